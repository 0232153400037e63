// Documents and comments name files that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "sdk/testing/named_files.h"
#include "sdk/testing/source_files.h"

namespace primset::repository {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Files that the build makes, and those of the projects that a comment speaks of.
constexpr std::array kNotOurs = {
    // generated
    "specs/host_functions.inc", "primset/ops/reduction.h", "primset/ops.h", "ops.h", "all.h",
    "registry.inc", "prim_list.inc", "prim_table.inc", "prim_traits.inc", "host_functions.inc",
    // the reader's own
    "my_ops.yaml", "vocab.txt",
    // CUDA, PyTorch, FreeBSD, sentence-transformers
    "native_functions.yaml", "cublasLt.h", "cuda.h", "c10/util/TypeCast.h", "c10/util/complex.h",
    "aten/src/ATen/native/Math.h", "aten/src/ATen/native/cpu/LogAddExp.h", "e_asin.c", "e_asinf.c",
    "e_lgamma_r.c", "k_exp.c", "config.json", "sentence_bert_config.json", "tokenizer_config.json",
    "1_Pooling/config.json"};

void expect_no_missing(const std::vector<NamedFile>& named) {
  for (const NamedFile& n : missing_files(named)) {
    if (std::ranges::find(kNotOurs, n.name) != kNotOurs.end()) continue;
    ADD_FAILURE() << n.in << ":" << n.line << ": there is no " << n.name;
  }
}

bool is_document(const SourceFile& f) {
  return f.has_extension({".md"}) && !f.is_test_data();
}

TEST(Docs, FilesThatDocumentsNameExist) {
  size_t count = 0;
  for (const SourceFile& f : repository_files()) {
    if (!is_document(f)) continue;
    const std::vector<NamedFile> named = files_named_in_markdown(f);
    count += named.size();
    expect_no_missing(named);
  }
  EXPECT_GT(count, 200u) << "the documents were not read";
}

TEST(Docs, FilesThatCommentsNameExist) {
  size_t count = 0;
  for (const SourceFile& f : repository_files()) {
    if (!f.has_extension({".h", ".cpp", ".c", ".def"}) || f.is_test_data()) continue;
    if (f.path == "sdk/testing/named_files.h" || f.path == "sdk/docs_test.cpp") continue;
    const std::vector<NamedFile> named = files_named_in_comments(f);
    count += named.size();
    expect_no_missing(named);
  }
  EXPECT_GT(count, 100u) << "the sources were not read";
}

TEST(Docs, EveryDecisionIsInTheIndex) {
  const std::string index = read_repository_file("docs/decisions/README.md");
  for (const SourceFile& f : repository_files()) {
    if (!f.path.starts_with("docs/decisions/") || f.path.ends_with("/README.md")) continue;
    const std::string name = f.path.substr(f.path.rfind('/') + 1);
    EXPECT_NE(index.find("(" + name + ")"), std::string::npos)
        << "docs/decisions/README.md has no line for " << name;
  }
}

std::vector<std::string> missing_names(const std::vector<NamedFile>& named) {
  std::vector<std::string> out;
  for (const NamedFile& n : missing_files(named)) out.push_back(n.name);
  return out;
}

TEST(Docs, PlantedNamesAreFound) {
  const SourceFile document{
      "docs/planted.md",
      "`codegen/emit/emitter.h` `fusion/planner.h` `specs/ops/*.yaml` `a * b`\n"
      "`codegen/emit/emitted.h` `planer.h` `specs/opps/` `prims/*.yml`\n"
      "[here](design.md) [there](decisions/nowhere.md#part)\n"
      "```\n`sdk/nothing.h`\n```\n`build/release/made.h` `lib<name>.so`\n"};
  EXPECT_THAT(missing_names(files_named_in_markdown(document)),
              ElementsAre("codegen/emit/emitted.h", "planer.h", "specs/opps/", "prims/*.yml",
                          "docs/decisions/nowhere.md"));
  const SourceFile source{"sdk/planted.h",
                          "// As emitter.h has it (codegen/emit/emitted.h).\nint x;  // gone.cpp\n"
                          "/* spirv.h, spirw.h */\nconst char* k = \"no_comment.h\";\n"};
  EXPECT_THAT(missing_names(files_named_in_comments(source)),
              ElementsAre("codegen/emit/emitted.h", "gone.cpp", "spirw.h"));
}

TEST(Docs, WhatIsThereIsNotMissing) {
  const SourceFile source{"sdk/planted.h",
                          "// (codegen/emit/emitter.h), design.md and loader.h.\n"};
  EXPECT_EQ(files_named_in_comments(source).size(), 3u);
  EXPECT_THAT(missing_names(files_named_in_comments(source)), IsEmpty());
}

}  // namespace
}  // namespace primset::repository
