#include "backends/cpu/image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "backends/common/status.h"
#include "backends/cpu/cpu_info.h"

namespace primset_cpu {
namespace {

using primset_backend::make_status;

constexpr char kMagic[8] = {'P', 'S', 'I', 'M', 'A', 'G', 'E', '1'};

primset_status* check_header(const primset_native_image& header, uint64_t size) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return make_status(PRIMSET_LOAD_FAILED, "native image: it does not begin with PSIMAGE1");
  if (header.header_size < sizeof(primset_native_image))
    return make_status(PRIMSET_LOAD_FAILED,
                       "native image: header_size is %" PRIu32 "; expected at least %zu",
                       header.header_size, sizeof(primset_native_image));
  if (header.machine != cpu_info().elf_machine)
    return make_status(PRIMSET_LOAD_FAILED,
                       "native image: made for ELF machine %" PRIu32 "; this CPU is %" PRIu32,
                       header.machine, cpu_info().elf_machine);
  if (header.image_size < header.header_size || header.image_size > size)
    return make_status(PRIMSET_LOAD_FAILED,
                       "native image: image_size is %" PRIu64 "; expected %" PRIu32 " to %" PRIu64
                       ", the bytes given",
                       header.image_size, header.header_size, size);
  if (header.entry_offset < header.header_size || header.entry_offset >= header.image_size)
    return make_status(PRIMSET_LOAD_FAILED,
                       "native image: entry_offset is %" PRIu64 "; expected %" PRIu32
                       " to image_size %" PRIu64,
                       header.entry_offset, header.header_size, header.image_size);
  return nullptr;
}

}  // namespace

Image::~Image() {
  if (address_) munmap(address_, mapped_bytes_);
}

primset_status* Image::load(const void* data, uint64_t size, Image& out,
                            primset_native_entry& out_entry) {
  primset_native_image header;
  if (size < sizeof(header))
    return make_status(PRIMSET_LOAD_FAILED, "native image: %" PRIu64 " bytes hold no header", size);
  std::memcpy(&header, data, sizeof(header));
  if (primset_status* status = check_header(header, size)) return status;

  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t bytes = (header.image_size + page - 1) / page * page;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return make_status(PRIMSET_OUT_OF_MEMORY, "native image: mmap of %" PRIu64 " bytes: %s", bytes,
                       std::strerror(errno));
  Image image;
  image.address_ = address;
  image.mapped_bytes_ = bytes;
  std::memcpy(address, data, header.image_size);
  // Never writable and executable at once.
  if (mprotect(address, bytes, PROT_READ | PROT_EXEC) != 0)
    return make_status(PRIMSET_LOAD_FAILED, "native image: mprotect: %s", std::strerror(errno));
  char* first = static_cast<char*>(address);
  __builtin___clear_cache(first, first + header.image_size);
  out_entry = reinterpret_cast<primset_native_entry>(first + header.entry_offset);
  out = std::move(image);
  return nullptr;
}

void Image::announce(const char* name) const {
  static const bool wanted = [] {
    const char* text = std::getenv("PRIMSET_CPU_PERF_MAP");
    return text != nullptr && std::string_view(text) == "1";
  }();
  if (!wanted) return;
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  if (std::FILE* file = std::fopen(path.c_str(), "a")) {
    std::fprintf(file, "%" PRIxPTR " %zx %s\n", reinterpret_cast<uintptr_t>(address_),
                 mapped_bytes_, name);
    std::fclose(file);
  }
}

}  // namespace primset_cpu
