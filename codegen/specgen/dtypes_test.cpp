// What is kept in the repository of dtypes.yaml is what specgen would write now.
#include <gtest/gtest.h>

#include "codegen/specgen/parse/vocabulary.h"
#include "codegen/specgen/testing/source_texts.h"
#include "codegen/specgen/write/dtypes.h"
#include "primset/error.h"

namespace primset::specs {
namespace {

constexpr const char* kHint = "run `specgen dtypes specs/dtypes.yaml --out .` in the repository";

struct Dtypes {
  Bundle bundle;
  std::vector<DTypeDefinition> definitions;
};

Dtypes read(const std::string& text) {
  Dtypes dtypes;
  Diagnostics diagnostics;
  const YamlNode root = read_yaml(text, diagnostics.add_file("dtypes.yaml"), diagnostics);
  dtypes.definitions = read_dtypes(root, dtypes.bundle, diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return dtypes;
}

TEST(DtypeHeaders, AreCurrent) {
  const Dtypes dtypes = read(read_text(source_path("specs/dtypes.yaml")));
  EXPECT_EQ(read_text(source_path("sdk/base/include/primset/dtypes.def")),
            emit_dtype_list(dtypes.definitions))
      << kHint;
  const std::string header = read_text(source_path("sdk/include/primset/plugin.h"));
  EXPECT_EQ(header, emit_plugin_header(header, dtypes.definitions, dtypes.bundle.dtype_sets))
      << kHint;
}

constexpr const char* kTwo = R"(dtypes:
  - {name: f4, torch: float4, aten: Float4, cpp: "c10::F4", code: 40, bits: 4, kind: floating,
     dlpack: 17, format: {exponent: 2, mantissa: 1, bias: 1, nan: all_ones, overflow: saturate}}
  - {name: c4, torch: complex4, aten: Complex4, cpp: c4, code: 41, bits: 8, kind: complex, parts: f4}
  - {name: bool, torch: bool, aten: Bool, cpp: bool, code: 11, bits: 8, kind: bool}
sets: {mine: [f4, c4]}
)";

TEST(DtypeHeaders, ALineEach) {
  const std::string list = emit_dtype_list(read(kTwo).definitions);
  EXPECT_NE(
      list.find("PRIMSET_DTYPE(f4, 40, \"f4\", \"float4\", \"Float4\", \"c10::F4\", 4, 'f', f4, "
                "17, FloatFormat{2, 1, 1, NanEncoding::all_ones, Overflow::saturate})\n"),
      std::string::npos)
      << list;
  EXPECT_NE(
      list.find("PRIMSET_DTYPE(c4, 41, \"c4\", \"complex4\", \"Complex4\", \"c4\", 8, 'c', f4, "
                "5, FloatFormat{})\n"),
      std::string::npos)
      << list;
  EXPECT_NE(list.find("PRIMSET_DTYPE(boolean, 11, \"bool\","), std::string::npos) << list;
}

TEST(DtypeHeaders, TheRestOfThePluginHeaderStays) {
  const Dtypes dtypes = read(kTwo);
  const std::string marks[] = {"before\n/* From specs/dtypes.yaml, by `specgen dtypes`: */\n",
                               "/* End of what specgen wrote. */\nafter\n"};
  EXPECT_EQ(emit_plugin_header(marks[0] + "old\n" + marks[1], dtypes.definitions,
                               dtypes.bundle.dtype_sets),
            marks[0] +
                "enum {\n  PRIMSET_F4 = 40,\n  PRIMSET_C4 = 41,\n  PRIMSET_BOOL = 11\n};\n"
                "#define PRIMSET_DTYPES_MINE UINT64_C(0x30000000000)\n" +
                marks[1]);
  EXPECT_THROW(emit_plugin_header("no marks\n", dtypes.definitions, dtypes.bundle.dtype_sets),
               Error);
}

}  // namespace
}  // namespace primset::specs
