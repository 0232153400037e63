// The arrows of docs/design.md: an include may only point down. And the SDK knows no back end by
// name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PRIMSET_SOURCE_DIR;

// Longest prefix of a path that is a layer, and what that layer may include beside itself. "base"
// are the public headers without dependences.
const std::map<std::string, std::set<std::string>> kLayers = {
    {"base", {}},
    {"specs/bundle", {"base"}},
    {"codegen/specgen", {"base", "specs/bundle"}},
    {"prims", {"base", "specs/bundle"}},
    {"codegen/kernel", {"base"}},
    {"codegen/emit", {"base", "codegen/kernel"}},
    {"codegen/schedule", {"base", "codegen/kernel", "prims"}},
    {"decomps", {"base", "specs/bundle", "prims"}},
    {"sdk",
     {"base", "specs/bundle", "codegen/specgen", "prims", "codegen/kernel", "codegen/emit",
      "codegen/schedule", "decomps", "conformance"}},
    {"conformance",
     {"base", "specs/bundle", "codegen/specgen", "prims", "codegen/kernel", "codegen/emit",
      "codegen/schedule", "decomps", "sdk"}},
    {"backends", {"base"}},
    {"samples", {"base", "sdk"}},
};
const std::set<std::string> kBase = {"plugin.h", "dtype.h", "dtypes.def", "float_format.h",
                                     "scalar.h", "error.h", "export.h"};

std::string layer_of(const std::string& path) {
  std::string best;
  for (const auto& [layer, below] : kLayers) {
    if (path.starts_with(layer + "/") && layer.size() > best.size()) best = layer;
  }
  return best;
}

// "" for what is no header of ours.
std::string layer_of_include(const std::string& include) {
  if (include.starts_with("primset/")) return kBase.count(include.substr(8)) != 0 ? "base" : "sdk";
  if (include.starts_with("sdk/base/")) return "base";
  if (include == "prims/prim_list.inc" || include == "prims/prim_table.inc") return "prims";
  return layer_of(include);
}

// A test stands beside what it tests and may use more.
bool is_test(const fs::path& p) {
  const std::string name = p.filename().string();
  return name.find("_test") != std::string::npos || name.find("benchmark") != std::string::npos ||
         name.find("fuzz") != std::string::npos || name.find("harness") != std::string::npos ||
         name.starts_with("test_") || name.starts_with("faulty_") ||
         name.find("_runner") != std::string::npos;
}

std::vector<fs::path> sources(const std::string& folder) {
  std::vector<fs::path> out;
  if (!fs::exists(kRoot / folder)) return out;
  for (const auto& e : fs::recursive_directory_iterator(kRoot / folder)) {
    const std::string ext = e.path().extension().string();
    if (ext == ".cpp" || ext == ".h" || ext == ".c") out.push_back(e.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::pair<int, std::string>> includes(const fs::path& file) {
  static const std::regex pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::vector<std::pair<int, std::string>> out;
  std::ifstream in(file);
  std::string line;
  std::smatch match;
  bool raw = false;  // inside a raw string: text that a generator writes
  for (int n = 1; std::getline(in, line); ++n) {
    if (line.find("R\"(") != std::string::npos) raw = true;
    if (line.find(")\"") != std::string::npos) raw = false;
    if (raw) continue;
    if (std::regex_search(line, match, pattern)) out.emplace_back(n, match[1]);
  }
  return out;
}

TEST(Layers, IncludesPointDown) {
  size_t seen = 0;
  for (const std::string folder :
       {"specs", "prims", "decomps", "codegen", "sdk", "backends", "conformance"}) {
    for (const fs::path& file : sources(folder)) {
      if (is_test(file)) continue;
      const std::string from = fs::relative(file, kRoot).string();
      const std::string layer =
          from.starts_with("sdk/base/") || (from.starts_with("sdk/include/primset/") &&
                                            kBase.count(file.filename().string()) != 0)
              ? "base"
              : layer_of(from);
      ASSERT_FALSE(layer.empty()) << from << " belongs to no layer of docs/design.md";
      for (const auto& [line, include] : includes(file)) {
        const std::string target = layer_of_include(include);
        ++seen;
        if (target.empty() || target == layer) continue;
        EXPECT_EQ(kLayers.at(layer).count(target), 1u)
            << from << ":" << line << ": layer " << layer << " includes " << include << " of layer "
            << target;
      }
    }
  }
  EXPECT_GT(seen, 100u) << "the sources were not found under " << kRoot;
}

TEST(Layers, LlvmHeadersStayInTheLlvmEmitter) {
  for (const std::string folder :
       {"specs", "prims", "decomps", "codegen", "sdk", "backends", "conformance"}) {
    for (const fs::path& file : sources(folder)) {
      const std::string from = fs::relative(file, kRoot).string();
      if (from.starts_with("codegen/emit/llvm/")) continue;
      for (const auto& [line, include] : includes(file)) {
        EXPECT_FALSE(include.starts_with("llvm/")) << from << ":" << line << ": " << include;
      }
    }
  }
}

// The SDK finds plugins in folders; "cpu" is the one name it knows, as the kind of memory that the
// host shares. Back ends beside it are named nowhere in code.
TEST(Layers, TheSdkNamesNoBackEnd) {
  const std::regex names(
      "\"(vulkan|cuda|level_zero|minimal|primitive)(:[0-9]+)?\"|lib(cpu|vulkan|cuda|level_zero)_"
      "primset");
  for (const std::string folder :
       {"prims", "decomps", "codegen/schedule", "codegen/kernel", "sdk/runtime"}) {
    for (const fs::path& file : sources(folder)) {
      if (is_test(file)) continue;
      std::ifstream in(file);
      std::string line;
      for (int n = 1; std::getline(in, line); ++n) {
        EXPECT_FALSE(std::regex_search(line, names))
            << fs::relative(file, kRoot).string() << ":" << n << ": " << line;
      }
    }
  }
}

}  // namespace
