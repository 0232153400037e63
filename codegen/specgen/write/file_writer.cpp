#include "codegen/specgen/write/file_writer.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "primset/error.h"

namespace primset::specs {

bool write_if_changed(const std::filesystem::path& path, std::string_view contents) {
  if (std::ifstream in(path, std::ios::binary); in) {
    if (std::string(std::istreambuf_iterator<char>(in), {}) == contents) return false;
  }
  std::error_code ignored;  // opening the file below reports what matters
  std::filesystem::create_directories(path.parent_path(), ignored);
  // A reader sees the old file or the new one, never a part.
  const std::filesystem::path temporary = path.string() + ".new";
  std::ofstream out(temporary, std::ios::binary);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (!out || error) {
    throw Error(ErrorCode::runtime, fmt::format("specgen: cannot write '{}'", path.string()));
  }
  return true;
}

}  // namespace primset::specs
