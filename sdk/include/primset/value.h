// One argument or result of the boxed call: any kind that ATen's schemas have.
#ifndef PRIMSET_VALUE_H_
#define PRIMSET_VALUE_H_

#include <primset/device.h>
#include <primset/dtype.h>
#include <primset/formats.h>
#include <primset/generator.h>
#include <primset/scalar.h>
#include <primset/tensor.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace primset {

// ATen kind        here
// None, absent     std::monostate (Value())
// Tensor, Tensor?  Tensor; an undefined one is None
// Tensor[], Tensor?[]            std::vector<Tensor>; undefined ones are None
// Scalar           Scalar, or any number: int and float literals bind to Scalar arguments
// int, SymInt      int64_t             int[], SymInt[]  std::vector<int64_t>
// float            double              float[]          std::vector<double>
// bool             bool                bool[]           std::vector<bool>
// Scalar[]         std::vector<Scalar>
// str              std::string
// ScalarType, Layout, MemoryFormat, Device, Generator, Storage: the types of those names
class Value {
 public:
  using Variant = std::variant<std::monostate, Tensor, std::vector<Tensor>, Scalar,
                               std::vector<Scalar>, int64_t, std::vector<int64_t>, double,
                               std::vector<double>, bool, std::vector<bool>, std::string, DType,
                               Layout, MemoryFormat, Device, Generator, Storage>;

  Value() = default;
  Value(Tensor t) : v_(std::move(t)) {}               // NOLINT: arguments convert silently
  Value(std::vector<Tensor> t) : v_(std::move(t)) {}  // NOLINT
  Value(Scalar s) : v_(s) {}                          // NOLINT
  Value(std::vector<Scalar> s) : v_(std::move(s)) {}  // NOLINT
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Value(T i) : v_(static_cast<int64_t>(i)) {}  // NOLINT
  Value(bool b) : v_(b) {}                     // NOLINT
  template <std::floating_point T>
  Value(T d) : v_(static_cast<double>(d)) {}           // NOLINT
  Value(std::vector<int64_t> v) : v_(std::move(v)) {}  // NOLINT
  Value(std::vector<double> v) : v_(std::move(v)) {}   // NOLINT
  Value(std::vector<bool> v) : v_(std::move(v)) {}     // NOLINT
  Value(std::string s) : v_(std::move(s)) {}           // NOLINT
  Value(const char* s) : v_(std::string(s)) {}         // NOLINT
  Value(DType t) : v_(t) {}                            // NOLINT
  Value(Layout l) : v_(l) {}                           // NOLINT
  Value(MemoryFormat f) : v_(f) {}                     // NOLINT
  Value(Device d) : v_(d) {}                           // NOLINT
  Value(Generator g) : v_(std::move(g)) {}             // NOLINT
  Value(Storage s) : v_(std::move(s)) {}               // NOLINT

  bool is_none() const {
    if (const Tensor* t = std::get_if<Tensor>(&v_)) return !t->defined();
    return std::holds_alternative<std::monostate>(v_);
  }
  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(v_);
  }
  // The value as T; throws Error{type} naming both kinds when it is something else.
  template <typename T>
  const T& as() const {
    if (const T* p = std::get_if<T>(&v_)) return *p;
    wrong_kind(Value(T{}).kind());
  }
  const Tensor& tensor() const { return as<Tensor>(); }
  // "Tensor", "int[]", ...: as schemas spell it
  PRIMSET_API std::string_view kind() const;
  const Variant& variant() const { return v_; }

 private:
  [[noreturn]] PRIMSET_API void wrong_kind(std::string_view wanted) const;

  Variant v_;
};

struct NamedValue {
  std::string name;
  Value value;
};

}  // namespace primset

#endif  // PRIMSET_VALUE_H_
