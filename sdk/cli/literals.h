// Arguments typed on the command line: text to Value, guided by the schema's kind.
#ifndef PRIMSET_SDK_CLI_LITERALS_H_
#define PRIMSET_SDK_CLI_LITERALS_H_

#include <primset/value.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/cli/command.h"
#include "sdk/runtime/call/operator_info.h"

namespace primset::cli {

// What a tensor is filled with.
struct SampleType {
  DType dtype;
  std::optional<int64_t> below = {};  // integers from 0 on: indices
};
// "f32,i64:1000" and "2x3,3,scalar" (rank 0: "scalar" or "-"). Throw Error{value}.
std::vector<SampleType> parse_dtypes(const std::string& text);
std::vector<std::vector<int64_t>> parse_shapes(const std::string& text);

// "3", "2.5", "1+2j", "true", "none", "[1,2]" or "1,2", "f32", "cpu", any text for str; "x.npy",
// "[[1,2],[3,4]]" or a number for a tensor. Throws Error{value} saying what was expected.
Value parse_literal(std::string_view text, const specs::Argument& argument, Device device);

// The operator and its arguments as options of explain and bench: tensors by dtype and shape, the
// rest by name.
struct OperatorOptions {
  std::string op;
  std::string dtypes = "f32", shapes = "2x3";
  std::vector<std::string> named;  // "dim=1"
  std::string device;
  uint64_t seed = 1;

  void declare(CLI::App& app);
  Device chosen_device() const;

  struct Bound {
    const runtime::OperatorInfo* info = nullptr;
    std::vector<Value> args;  // one an argument of the schema; None where its default is meant
    std::vector<NamedValue> kwargs;
  };
  // One dtype or shape serves all tensors; else there is one a tensor argument, in order. The
  // arguments fit the overload, or this throws.
  Bound bind() const;

 private:
  Bound bind(const runtime::OperatorInfo& info) const;
};

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_LITERALS_H_
