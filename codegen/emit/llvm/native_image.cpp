#include "codegen/emit/llvm/native_image.h"

#include <cstring>
#include <map>

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "primset/error.h"
#include "primset/plugin.h"

namespace primset::emit {
namespace {

using Object = llvm::object::ELF64LEObjectFile;
using Elf = llvm::object::ELF64LE;

constexpr uint64_t kPage = 4096;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::internal, "native image: " + what);
}

template <typename T>
T take(llvm::Expected<T> value) {
  if (!value) refuse(llvm::toString(value.takeError()));
  return std::move(*value);
}

class Linker {
 public:
  explicit Linker(const Object& object) : object_(object), file_(object.getELFFile()) {}

  std::vector<uint8_t> link(const std::string& entry) {
    image_.resize(sizeof(primset_native_image));
    // Code first: it is what the entry's page holds.
    for (const bool code : {true, false}) {
      for (const auto& section : object_.sections()) place(section, code);
    }
    for (const auto& section : object_.sections()) relocate(section);
    write_header(entry);
    return std::move(image_);
  }

 private:
  static std::string name_of(const llvm::object::SectionRef& s) { return take(s.getName()).str(); }

  // Appends a section that is needed at run time.
  void place(const llvm::object::SectionRef& section, bool code) {
    const Elf::Shdr* header = object_.getSection(section.getRawDataRefImpl());
    // Stack maps of exceptions: kernels throw none.
    const bool unwind =
        header->sh_type == llvm::ELF::SHT_X86_64_UNWIND || name_of(section) == ".eh_frame";
    if ((header->sh_flags & llvm::ELF::SHF_ALLOC) == 0 || header->sh_size == 0 || unwind) return;
    if (((header->sh_flags & llvm::ELF::SHF_EXECINSTR) != 0) != code) return;
    if ((header->sh_flags & llvm::ELF::SHF_WRITE) != 0 ||
        header->sh_type != llvm::ELF::SHT_PROGBITS) {
      refuse("section " + name_of(section) + " would have to be writable");
    }
    if (header->sh_addralign > kPage)
      refuse("section " + name_of(section) + " exceeds page alignment");
    image_.resize(llvm::alignTo(image_.size(), std::max<uint64_t>(header->sh_addralign, 1)));
    places_[section.getIndex()] = image_.size();
    const llvm::StringRef contents = take(section.getContents());
    image_.insert(image_.end(), contents.bytes_begin(), contents.bytes_end());
  }

  // The symbol's offset in the image.
  uint64_t resolve(const llvm::object::SymbolRef& symbol) {
    const auto section = take(symbol.getSection());
    const bool defined = section != object_.section_end();
    const auto place = defined ? places_.find(section->getIndex()) : places_.end();
    if (place == places_.end()) {
      refuse("the code calls '" + take(symbol.getName()).str() + "', which nothing supplies");
    }
    return place->second + take(symbol.getValue());
  }

  void relocate(const llvm::object::SectionRef& relocations) {
    const auto target = take(relocations.getRelocatedSection());
    if (target == object_.section_end()) return;
    const auto place = places_.find(target->getIndex());
    if (place == places_.end()) return;
    for (const auto& r : relocations.relocations()) {
      const std::string symbol = take(r.getSymbol()->getName()).str();
      const uint64_t value = resolve(*r.getSymbol());
      const auto type = r.getType();
      if (type != llvm::ELF::R_X86_64_PC32 && type != llvm::ELF::R_X86_64_PLT32) {
        llvm::SmallString<32> name;
        r.getTypeName(name);
        refuse("relocation " + name.str().str() + " against '" + symbol + "' is not pc-relative");
      }
      const uint64_t at = place->second + r.getOffset();
      const int64_t addend = take(llvm::object::ELFRelocationRef(r).getAddend());
      const int64_t distance = static_cast<int64_t>(value) + addend - static_cast<int64_t>(at);
      if (!llvm::isInt<32>(distance)) refuse("'" + symbol + "' is too far away");
      llvm::support::endian::write32le(&image_[at], static_cast<uint32_t>(distance));
    }
  }

  void write_header(const std::string& entry) {
    primset_native_image header{};
    std::memcpy(header.magic, "PSIMAGE1", sizeof header.magic);
    header.header_size = sizeof header;
    header.machine = file_.getHeader().e_machine;
    header.image_size = image_.size();
    for (const auto& symbol : object_.symbols()) {
      const bool function = take(symbol.getType()) == llvm::object::SymbolRef::ST_Function;
      if (function && take(symbol.getName()) == entry) header.entry_offset = resolve(symbol);
    }
    if (header.entry_offset == 0) refuse("no entry '" + entry + "'");
    std::memcpy(image_.data(), &header, sizeof header);
  }

  const Object& object_;
  const llvm::object::ELFFile<Elf>& file_;
  std::vector<uint8_t> image_;
  std::map<uint64_t, uint64_t> places_;  // by section index: offset in the image
};

}  // namespace

std::vector<uint8_t> native_image(std::span<const char> object, const std::string& entry) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), entry);
  const auto file = take(llvm::object::ObjectFile::createELFObjectFile(buffer));
  const auto* elf = llvm::dyn_cast<Object>(file.get());
  if (elf == nullptr || elf->getELFFile().getHeader().e_machine != llvm::ELF::EM_X86_64) {
    throw Error(ErrorCode::not_implemented,
                "native images are made for x86-64 ELF only; give this "
                "device's kernels as llvm_bitcode");
  }
  return Linker(*elf).link(entry);
}

}  // namespace primset::emit
