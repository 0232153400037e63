// One ATen overload: its schema, and everything about it that is data.
#ifndef PRIMSET_SPECS_BUNDLE_OPERATOR_H_
#define PRIMSET_SPECS_BUNDLE_OPERATOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "primset/dtype.h"
#include "specs/bundle/formula.h"
#include "specs/bundle/schema.h"
#include "specs/bundle/tolerance.h"

namespace primset::specs {

inline constexpr uint32_t kNoIndex = 0xffffffffu;

enum class OverloadKind : uint8_t {
  functional,
  inplace,     // add_: writes self
  out,         // writes the out= arguments
  mutable_op,  // writes some argument without being either: _cummax_helper
};

// A declared overload has a schema and nothing else; an implemented one can be called.
enum class Status : uint8_t { declared, implemented };

enum class PromoteKind : uint8_t {
  none,              // no promotion: each argument keeps its dtype
  standard,          // "default": ATen's common dtype of the named arguments
  int_to_float,      // the common dtype, integers and bool become the default float dtype
  complex_to_float,  // the common dtype; the results are real
  always_bool,       // the common dtype; the results are bool
  bool_to_int,       // the common dtype; bool and integers become int64, as sum has it
};

struct Promotion {
  PromoteKind kind = PromoteKind::none;
  std::vector<uint32_t> args;  // indices of arguments
  uint32_t into = kNoIndex;    // the argument whose dtype the results get, as out= tensors would

  friend bool operator==(const Promotion&, const Promotion&) = default;
};

enum class StrideKind : uint8_t {
  elementwise,  // as TensorIterator: follows the inputs' permutation
  contiguous,
  function,  // `function` in decomps/ computes them
};

struct StrideRule {
  StrideKind kind = StrideKind::contiguous;
  std::string function;

  friend bool operator==(const StrideRule&, const StrideRule&) = default;
};

enum class ImplKind : uint8_t {
  none,      // declared only, or derived: look at Overload::base
  formula,   // Implementation::formula
  function,  // a C++ decomposition named `function`
  view,      // a C++ function named `function` that only makes a new view of its argument
  alias,     // the same as overload `target`, which takes the same arguments
};

struct Implementation {
  ImplKind kind = ImplKind::none;
  std::string function;
  uint32_t target = kNoIndex;
  Formula formula;

  friend bool operator==(const Implementation&, const Implementation&) = default;
};

// What the operator takes from the random number generator.
struct RandomUse {
  bool seeded = false;  // draws from the Generator argument or the default one
  int32_t counters_per_element =
      0;  // Philox counters an output element takes; 0: as the function says
  bool order_nondeterministic = false;  // floating results depend on the order of atomic updates

  friend bool operator==(const RandomUse&, const RandomUse&) = default;
};

// Which inputs an out= tensor may share memory with. As a whole: element on element.
enum class SharedMemory : uint8_t {
  any,      // what is written over is read first
  whole,    // any, as a whole
  self,     // the argument self, as a whole
  refused,  // none
};

// The dtype of what is written: of out= tensors, and of what an operator overwrites in place.
enum class OutDType : uint8_t {
  any,    // that the result can be cast to
  exact,  // the result's
  named,  // the result's where the call names it; else the result is computed in the out= tensor's
  computed,  // any, and the first argument is converted to it before
  truth,     // bool or u8, whichever of them the result is
  floating,  // that the result can be cast to, and real
};

// What ATen wants of the out= tensors of an operator's out= forms.
struct OutRule {
  StrideRule strides;  // of those that are resized; becomes the variant's own, but an alias's
  OutDType dtype = OutDType::any;
  SharedMemory shared = SharedMemory::any;

  friend bool operator==(const OutRule&, const OutRule&) = default;
};

// A generator of conformance cases and its parameters, as written. Of kWrittenCases the parameters
// are the cases: a name and the arguments.
inline constexpr const char* kWrittenCases = "written";
struct CaseSpec {
  std::string generator;
  std::vector<std::pair<std::string, std::string>> parameters;

  friend bool operator==(const CaseSpec&, const CaseSpec&) = default;
};

struct Overload {
  std::string op;         // "add", "add_"
  std::string overload;   // "Tensor"; empty for the default overload
  std::string qualified;  // "add.Tensor"; "relu" for the default overload
  std::string family;     // the name of its YAML file
  std::string schema;     // byte for byte ATen's
  OverloadKind kind = OverloadKind::functional;
  Status status = Status::declared;
  std::string status_reason;
  // In-place, out= and mutable: the functional overload that computes it. Arguments match by name,
  // those without a namesake by position. The base's results go, in order, to the results that are
  // not written arguments, then to out= arguments, then to other written arguments in the order of
  // their alias letters.
  uint32_t base = kNoIndex;
  bool derived = false;   // made by `variants`, not written out
  bool method = false;    // callable as tensor.name(...)
  bool function = true;   // callable as torch.name(...)
  bool internal = false;  // no operator of ATen: what functions on the host are made of

  std::vector<Argument> args;
  std::vector<Return> returns;
  Promotion promote;
  std::vector<uint32_t> broadcast;  // indices of the tensor arguments broadcast together
  std::vector<uint32_t> one_dtype;  // indices of those that are given in one dtype, or not at all
  DTypeSet dtypes;                  // of the promoted dtype; empty: not yet said
  StrideRule strides;
  OutRule outs;
  bool unchanged_is_itself = false;  // a result that is an argument's own value is that argument
  bool undefined_contents = false;   // the results are memory that nobody wrote
  bool reads_offset = false;         // the result depends on where in its storage a tensor starts
  RandomUse random;
  Implementation implementation;
  // Names of functions on the host (specs/host_functions.yaml).
  std::string intrinsic;                    // runs instead of a plan; empty: none does
  std::string sparse;                       // runs where an argument's layout is sparse, or always
                                            // where nothing else computes the overload
  std::vector<std::string> checks;          // of the arguments, where the overload is computed
  std::vector<std::string> written_checks;  // of what is written in place
  std::vector<CaseSpec> cases;
  std::vector<ToleranceRule> tolerance;  // empty: inherited from the primitives used
  std::vector<std::string> tags;         // ATen's: core, pointwise, reduction, ...
  uint32_t file = 0;                     // index into Bundle::files
  uint32_t line = 0;                     // where its entry stands there
  uint32_t column = 0;

  // The index of the argument, or -1.
  int find_arg(std::string_view name) const {
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  // The argument whose new state the return is, as functional overloads of operators that write
  // name it (self_out of self), or -1.
  int updated_arg(const Return& r) const {
    constexpr std::string_view kSuffix = "_out";
    const std::string_view name = r.name;
    return name.ends_with(kSuffix) ? find_arg(name.substr(0, name.size() - kSuffix.size())) : -1;
  }
  bool has_tag(std::string_view tag) const {
    for (const std::string& t : tags) {
      if (t == tag) return true;
    }
    return false;
  }
  friend bool operator==(const Overload&, const Overload&) = default;
};

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_OPERATOR_H_
