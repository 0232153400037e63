#include "sdk/testing/source_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace primset::repository {
namespace {

namespace fs = std::filesystem;

const fs::path kRepository = PRIMSET_SOURCE_DIR;

bool is_text(const fs::path& path) {
  static const std::set<std::string> extensions = {".cpp", ".h",   ".c",  ".py",    ".yaml",
                                                   ".md",  ".txt", ".in", ".cmake", ".json",
                                                   ".map", ".pyi", ".sh"};
  return path.extension().empty() || extensions.contains(path.extension().string());
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<SourceFile> read_all() {
  std::vector<fs::path> paths;
  for (const std::string& folder : top_folders()) {
    for (auto it = fs::recursive_directory_iterator(kRepository / folder);
         it != fs::recursive_directory_iterator(); ++it) {
      if (it->path().filename() == "__pycache__") it.disable_recursion_pending();
      if (it->is_regular_file()) paths.push_back(it->path());
    }
  }
  for (const auto& entry : fs::directory_iterator(kRepository)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::vector<SourceFile> files;
  for (const fs::path& p : paths) {
    if (is_text(p)) files.push_back({fs::relative(p, kRepository).string(), read(p)});
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace

bool SourceFile::has_extension(std::initializer_list<const char*> extensions) const {
  return std::ranges::any_of(extensions, [&](const char* e) { return path.ends_with(e); });
}

bool SourceFile::is_test_data() const {
  return path.find("testdata/") != std::string::npos;
}

size_t SourceFile::count_lines() const {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

size_t SourceFile::line_at(size_t position) const {
  const auto end = text.begin() + static_cast<ptrdiff_t>(std::min(position, text.size()));
  return 1 + static_cast<size_t>(std::count(text.begin(), end, '\n'));
}

const std::vector<std::string>& top_folders() {
  static const std::vector<std::string> folders = {
      "backends", "codegen", "conformance", "decomps", "docs", "prims", "samples", "sdk", "specs"};
  return folders;
}

const std::vector<SourceFile>& repository_files() {
  static const std::vector<SourceFile> files = read_all();
  return files;
}

std::string read_repository_file(const std::string& path) {
  return read(kRepository / path);
}

bool is_python(const SourceFile& file) {
  return file.has_extension({".py"}) || file.text.starts_with("#!/usr/bin/env python3\n");
}

bool is_source(const SourceFile& file) {
  return file.has_extension({".cpp", ".h", ".c"}) || is_python(file);
}

}  // namespace primset::repository
