// An operator's signature: ATen's schema language, parsed.
#ifndef PRIMSET_SPECS_BUNDLE_SCHEMA_H_
#define PRIMSET_SPECS_BUNDLE_SCHEMA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace primset::specs {

// Of an argument, a return, or a default's target. Tensor? is `tensor` with Argument::optional set;
// Tensor?[] has a kind of its own, since there the elements are optional and not the list.
enum class ArgKind : uint8_t {
  tensor,
  tensor_list,
  optional_tensor_list,
  scalar,
  scalar_list,
  integer,
  int_list,
  sym_int,
  sym_int_list,
  floating,
  float_list,
  boolean,
  bool_list,
  string,
  scalar_type,
  layout,
  device,
  memory_format,
  generator,
  storage,
};

constexpr bool is_tensor_kind(ArgKind k) {
  return k == ArgKind::tensor || k == ArgKind::tensor_list || k == ArgKind::optional_tensor_list;
}
constexpr bool is_list_kind(ArgKind k) {
  return k == ArgKind::tensor_list || k == ArgKind::optional_tensor_list ||
         k == ArgKind::scalar_list || k == ArgKind::int_list || k == ArgKind::sym_int_list ||
         k == ArgKind::float_list || k == ArgKind::bool_list;
}
// The schema's spelling without '?': "SymInt[]".
std::string_view spelling(ArgKind kind);

enum class DefaultKind : uint8_t {
  absent,       // the argument must be given
  none,         // None
  integer,      // `integer`
  floating,     // `floating`
  boolean,      // `integer` is 0 or 1
  string,       // `text`, unquoted
  int_list,     // `list`; a fixed-size list argument with a single default has it repeated
  enumeration,  // `text` is the name (long, Mean, contiguous_format), `integer` its ATen code
};

struct DefaultValue {
  DefaultKind kind = DefaultKind::absent;
  int64_t integer = 0;
  double floating = 0;
  std::vector<int64_t> list;
  std::string text;
  std::string spelling;  // exactly as in the schema: 1e-05, "L", [-2,-1]

  bool present() const { return kind != DefaultKind::absent; }
  friend bool operator==(const DefaultValue&, const DefaultValue&) = default;
};

// (a), (a!), (a -> *): which storage an argument or a result shares, and whether it is written.
struct AliasInfo {
  char letter = 0;        // 0: shares nothing
  bool writes = false;    // '!'
  bool wildcard = false;  // "a -> *": elements may end up anywhere in the results

  friend bool operator==(const AliasInfo&, const AliasInfo&) = default;
};

// Structural arguments shape the plan; runtime ones are kernel parameters, so that another value
// needs no other plan. Tensors are data, which is neither: their role is `runtime`.
enum class Role : uint8_t { structural, runtime };

// To what a Scalar, or a tensor of rank 0 beside others, is rounded before it is used: the type
// computed in, or the tensors' dtype, as an element of theirs, which must hold it, or as a tensor
// is, for which infinity or what is left of its bits will do.
enum class ScalarRounding : uint8_t { opmath, storage, tensor };

struct Argument {
  std::string name;
  ArgKind kind = ArgKind::tensor;
  bool optional = false;
  bool keyword_only = false;
  bool is_out = false;     // one of the trailing out= tensors
  int32_t fixed_size = 0;  // int[2] -> 2; 0 when the list has no fixed size
  Role role = Role::structural;
  ScalarRounding rounding = ScalarRounding::opmath;  // of tensors: storage, if nothing is said
  AliasInfo alias;
  DefaultValue default_value;

  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Return {
  std::string name;  // mostly empty
  ArgKind kind = ArgKind::tensor;
  AliasInfo alias;

  friend bool operator==(const Return&, const Return&) = default;
};

// The schema of "add.Tensor" with its parts in order, spelled as ATen spells it.
std::string print_schema(std::string_view qualified, const std::vector<Argument>& args,
                         const std::vector<Return>& returns);

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_SCHEMA_H_
