// Includes go where the table "Layers" of docs/design.md allows it, and the SDK knows no back end
// by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <stdexcept>

#include "sdk/testing/layers.h"
#include "sdk/testing/source_files.h"

namespace primset::repository {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<SourceFile> cpp_files() {
  std::vector<SourceFile> out;
  for (const SourceFile& f : repository_files()) {
    if (f.has_extension({".cpp", ".h", ".c"})) out.push_back(f);
  }
  return out;
}

std::vector<Include> all_includes() {
  std::vector<Include> out;
  for (const SourceFile& f : cpp_files()) {
    const std::vector<Include> more = read_includes(f.path, f.text);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

const std::vector<LayerRule>& design() {
  static const std::vector<LayerRule> rules =
      parse_layer_rules(read_repository_file("docs/design.md"));
  return rules;
}

TEST(Layers, IncludesGoWhereTheDesignAllowsIt) {
  const std::vector<Include> includes = all_includes();
  EXPECT_GT(includes.size(), 2000u) << "the sources were not found";
  for (const std::string& v : find_layer_violations(design(), includes)) ADD_FAILURE() << v;
}

TEST(Layers, EveryRowHasFiles) {
  for (const LayerRule& rule : design()) {
    const std::string folder = rule.folder.substr(0, rule.folder.find('*'));
    EXPECT_TRUE(std::ranges::any_of(
        repository_files(), [&](const SourceFile& f) { return f.path.starts_with(folder); }))
        << "docs/design.md, layers: there is no " << rule.folder;
  }
}

// Includes that nobody may write, each with what is said of it.
TEST(Layers, PlantedViolationsAreFound) {
  const std::pair<Include, const char*> kPlanted[] = {
      {{"prims/graph/graph.cpp", 3, "decomps/engine/engine.h"},
       "prims/graph/graph.cpp:3: prims may not include decomps/engine/engine.h"},
      {{"sdk/base/include/primset/dtype.h", 1, "prims/graph/graph.h"}, "sdk/base may not include"},
      {{"codegen/schedule/families/scan/scan_kernel.cpp", 1,
        "codegen/schedule/families/sort/radix_sort.h"},
       "codegen/schedule/families/scan may not include"},
      {{"codegen/schedule/families/reduction/x.cpp", 1, "codegen/schedule/schedule.h"},
       "codegen/schedule/families/reduction may not include"},
      {{"codegen/schedule/legalize/legalize.cpp", 1, "codegen/schedule/families/scan/group_scan.h"},
       "codegen/schedule/legalize may not include"},
      {{"codegen/emit/spirv/lowering.cpp", 1, "codegen/emit/llvm/lowering.h"},
       "emit/spirv may not"},
      {{"backends/cpu/plugin.cpp", 1, "backends/cuda/driver.h"}, "backends/cpu may not include"},
      {{"backends/cpu/plugin.cpp", 1, "sdk/include/primset/tensor.h"}, "backends/cpu may not"},
      {{"samples/minimal_plugin/minimal_plugin.c", 1, "sdk/include/primset/device.h"},
       "samples/minimal_plugin may not"},
      {{"sdk/runtime/plan/plan.cpp", 1, "conformance/runner/session.h"}, "sdk/runtime may not"},
      // What only tests may have, and what not even they may.
      {{"codegen/schedule/schedule.cpp", 1, "codegen/schedule/testing/program_runner.h"},
       "codegen/schedule may not include"},
      {{"codegen/schedule/schedule.cpp", 1, "codegen/emit/emitter.h"}, "codegen/schedule may not"},
      {{"prims/graph/graph_test.cpp", 1, "sdk/runtime/plan/plan.h"}, "a test of prims may not"},
      {{"prims/graph/graph_test.cpp", 1, "codegen/schedule/testing/program_runner.h"},
       "a test of prims may not"},
      {{"elsewhere/x.cpp", 1, "prims/graph/graph.h"}, "elsewhere/x.cpp:1: the file belongs to no"},
  };
  for (const auto& [include, message] : kPlanted) {
    EXPECT_THAT(find_layer_violations(design(), std::span(&include, 1)),
                ElementsAre(HasSubstr(message)))
        << include.file << " -> " << include.target;
  }
}

TEST(Layers, WhatTestsMayIncludeIsFine) {
  const Include kFine[] = {
      {"codegen/schedule/schedule_test.cpp", 1, "codegen/emit/emitter.h"},
      {"codegen/schedule/families/scan/scan_test.cpp", 1,
       "codegen/schedule/testing/program_runner.h"},
      {"codegen/schedule/testing/program_runner.cpp", 1, "codegen/schedule/schedule.h"},
      {"codegen/schedule/families/sort/radix_sort.cpp", 1,
       "codegen/schedule/families/scan/group_scan.h"},
      {"backends/cuda/cuda_plugin_test.cpp", 1, "sdk/runtime/plugin/loader.h"},
  };
  EXPECT_THAT(find_layer_violations(design(), kFine), IsEmpty());
}

TEST(Layers, TablesThatCannotBeReadAreRefused) {
  const std::string head = "## Layers\n| folder | may include | tests |\n|---|---|---|\n";
  EXPECT_EQ(parse_layer_rules(head + "| `a/*` | `b`, `c` | |\n\n## Next\n| `d` | | |\n").size(),
            1u);
  for (const std::string& text :
       {std::string("# Design\n"), head, head + "| `a` | `b` |\n", head + "| a | `b` | |\n",
        head + "| `a`, `b` | | |\n", head + "| `a` | b and c | |\n"}) {
    EXPECT_THROW(parse_layer_rules(text), std::runtime_error) << text;
  }
}

TEST(Layers, IncludesAreReadFromText) {
  const std::vector<Include> found = read_includes(
      "prims/graph/x.cpp",
      "#include <vector>\n  # include \"prims/graph/graph.h\"\n"
      "#include <primset/plugin.h>\nconst char* k = R\"(\n#include \"sdk/x.h\"\n)\";\n"
      "#include \"primset/dtype.h\"\n#include \"graph.h\"\n");
  std::vector<std::string> targets;
  for (const Include& i : found) targets.push_back(std::to_string(i.line) + " " + i.target);
  EXPECT_THAT(targets, ElementsAre("2 prims/graph/graph.h", "3 sdk/include/primset/plugin.h",
                                   "7 sdk/base/include/primset/dtype.h", "8 prims/graph/graph.h"));
}

TEST(Layers, LlvmHeadersStayInTheLlvmEmitter) {
  const std::regex pattern("#\\s*include\\s*[<\"]llvm/");
  for (const SourceFile& f : cpp_files()) {
    std::smatch m;
    if (f.path.starts_with("codegen/emit/llvm/")) continue;
    EXPECT_FALSE(std::regex_search(f.text, m, pattern))
        << f.path << ":" << f.line_at(static_cast<size_t>(m.position()));
  }
}

// The SDK finds plugins in folders; "cpu" is the one name it knows, as the kind of memory that the
// host shares. Back ends beside it are named nowhere in code.
TEST(Layers, TheSdkNamesNoBackEnd) {
  const std::regex names(
      "\"(vulkan|cuda|opencl|level_zero|minimal|primitive)(:[0-9]+)?\"|lib(cpu|vulkan|cuda|opencl|"
      "level_zero)_"
      "primset");
  for (const SourceFile& f : cpp_files()) {
    const bool looked_at = std::ranges::any_of(
        std::initializer_list<const char*>{"prims/", "decomps/", "codegen/schedule/",
                                           "codegen/kernel/", "sdk/runtime/"},
        [&](const char* folder) { return f.path.starts_with(folder); });
    if (!looked_at || is_test_code(f.path)) continue;
    std::smatch m;
    EXPECT_FALSE(std::regex_search(f.text, m, names))
        << f.path << ":" << f.line_at(static_cast<size_t>(m.position())) << ": " << m.str();
  }
}

}  // namespace
}  // namespace primset::repository
