#include "codegen/specgen/write/file_writer.h"

#include <fstream>
#include <iterator>
#include <string>

#include "sdk/base/output_file.h"

namespace primset::specs {

bool write_if_changed(const std::filesystem::path& path, std::string_view contents) {
  if (std::ifstream in(path, std::ios::binary); in) {
    if (std::string(std::istreambuf_iterator<char>(in), {}) == contents) return false;
  }
  write_file(path, contents);
  return true;
}

}  // namespace primset::specs
