// The boxed call: any of the operators by name. Every front end (C++, Python, the command line, a
// PyTorch device) ends here.
//
//   Tensor sum = invoke("add.Tensor", {a, b}, {{"alpha", 2}})[0].tensor();
//   Tensor same = invoke("add", {a, b})[0].tensor();          // the overload follows the arguments
//
//   static const Operator kAdd("add.Tensor");                 // looked up once: the fast way
//   Tensor fast = kAdd(a, b).tensor();
//
// Names, argument names, defaults and error classes are ATen's. Throws primset::Error; then nothing
// was written. Thread safe.
#ifndef PRIMSET_INVOKE_H_
#define PRIMSET_INVOKE_H_

#include <primset/export.h>
#include <primset/value.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace primset {

namespace runtime {
struct OperatorInfo;
}

// Whether a result shares memory with an argument.
struct ResultOrigin {
  enum class Kind : uint8_t {
    fresh,     // new memory
    argument,  // argument `argument` itself
    view,      // shares memory with argument `argument`
  };
  Kind kind = Kind::fresh;
  uint32_t argument = 0;
};

// `name` is an overload ("add.Tensor", "relu") or, when there is no overload of that exact name, a
// base name ("add"): then the first overload in ATen's order that takes these arguments as they
// are, else the first that takes them after converting a number to a tensor. Returns one Value for
// each return of the schema. `origins`, when given, gets one entry for each result.
PRIMSET_API std::vector<Value> invoke(std::string_view name, std::span<const Value> args,
                                      std::span<const NamedValue> kwargs = {},
                                      std::vector<ResultOrigin>* origins = nullptr);

inline std::vector<Value> invoke(std::string_view name, std::initializer_list<Value> args,
                                 std::initializer_list<NamedValue> kwargs = {}) {
  return invoke(name, std::span<const Value>(args.begin(), args.size()),
                std::span<const NamedValue>(kwargs.begin(), kwargs.size()));
}

// One overload, looked up once. Cheap to copy; valid until the program ends.
class PRIMSET_API Operator {
 public:
  // Throws Error{not_implemented} when there is no such overload.
  explicit Operator(std::string_view qualified);
  explicit Operator(const runtime::OperatorInfo& info) : info_(&info) {}

  std::string_view name() const;    // "add.Tensor"
  std::string_view schema() const;  // ATen's
  std::string_view family() const;  // "pointwise_binary"
  DTypeSet dtypes() const;          // what its arguments may be
  bool implemented() const;

  std::vector<Value> invoke(std::span<const Value> args, std::span<const NamedValue> kwargs = {},
                            std::vector<ResultOrigin>* origins = nullptr) const;
  // Calls with positional arguments; pre: the operator has one result.
  template <typename... Args>
  Value operator()(Args&&... args) const {
    const Value list[] = {Value(std::forward<Args>(args))...};
    return call_one(list);
  }
  const runtime::OperatorInfo& info() const { return *info_; }

 private:
  Value call_one(std::span<const Value> args) const;

  const runtime::OperatorInfo* info_;
};

// The names of all overloads known, in the order of the specs.
PRIMSET_API std::vector<std::string> operator_names();

// Reads specs (a bundle, or a YAML file that is compiled) that replace or add operators, as
// `primset --specs my_ops.yaml` does. Call before the first operator is used.
PRIMSET_API void load_specs(const std::string& path);

}  // namespace primset

#endif  // PRIMSET_INVOKE_H_
