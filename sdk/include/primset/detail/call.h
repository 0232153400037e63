// What generated operator wrappers call: arguments in the schema's order, unboxed, nothing copied
// and nothing allocated on the way in.
//
// A generated wrapper (specgen writes one header a family, generated/primset/ops/<family>.h) looks
// like this. Every argument of the schema has its place in the array, defaults included; an
// argument that was left out is `absent`, and the runtime puts the schema's default there.
//
//   namespace primset {
//
//   // add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//   inline Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
//     static const detail::Op op("add.Tensor");
//     const detail::Arg args[] = {self, other, alpha};
//     return detail::call_tensor(op, args);
//   }
//   // add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
//   // What is written is passed as any tensor is, so that views made on the spot may be.
//   inline Tensor add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
//     static const detail::Op op("add_.Tensor");
//     const detail::Arg args[] = {self, other, alpha};
//     detail::call_void(op, args);
//     return self;
//   }
//   // add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
//   // The out= tensors come first in C++, as in ATen's own C++ API; in the array they stay last.
//   inline Tensor add_out(const Tensor& out, const Tensor& self, const Tensor& other,
//                         const Scalar& alpha = 1) {
//     static const detail::Op op("add.out");
//     const detail::Arg args[] = {self, other, alpha, out};
//     detail::call_void(op, args);
//     return out;
//   }
//   // topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True)
//   //     -> (Tensor values, Tensor indices)
//   inline std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1,
//                                          bool largest = true, bool sorted = true) {
//     static const detail::Op op("topk");
//     const detail::Arg args[] = {self, k, dim, largest, sorted};
//     Tensor out[2];
//     detail::call_tensors(op, args, out);
//     return {std::move(out[0]), std::move(out[1])};
//   }
//   // Optional and list arguments:
//   //   Tensor?     const std::optional<Tensor>&     Tensor[]   List<Tensor>
//   //   Scalar?     const std::optional<Scalar>&     Tensor?[]  List<Tensor>; undefined ones: None
//   //   Generator?  const std::optional<Generator>&  int[]      IntList
//   //   Device?     std::optional<Device>            int[]?     OptionalList<int64_t>
//   //   ScalarType? std::optional<DType>             str        std::string_view
//   // Each converts to detail::Arg; an empty optional is None.
//
//   }  // namespace primset
#ifndef PRIMSET_DETAIL_CALL_H_
#define PRIMSET_DETAIL_CALL_H_

#include <primset/export.h>
#include <primset/invoke.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace primset::detail {

// A borrowed argument. It points to what it was made from, which outlives the call.
struct Arg {
  enum class Kind : uint8_t {
    absent,  // left out: the schema's default
    none,
    tensor,       // pointer: TensorImpl
    tensor_list,  // pointer: Tensor[count]; undefined ones are None
    scalar,       // pointer: Scalar
    scalar_list,
    integer,
    int_list,
    floating,
    float_list,
    boolean,
    bool_list,      // pointer: bool[count]
    packed_bools,   // pointer: std::vector<bool>
    string,         // pointer, count
    dtype,          // integer
    layout,         // integer
    memory_format,  // integer
    device,         // integer: Device::id()
    generator,      // pointer: Generator
    storage,        // pointer: Storage
  };
  Kind kind = Kind::absent;
  uint32_t count = 0;
  union {
    const void* pointer;
    int64_t integer;
    double floating;
    Device device;
  };

  Arg() : pointer(nullptr) {}
  Arg(std::nullopt_t) : kind(Kind::none), pointer(nullptr) {}  // NOLINT: as all below
  Arg(const Tensor& t) : kind(t.defined() ? Kind::tensor : Kind::none), pointer(t.impl()) {}
  Arg(std::span<const Tensor> l) : Arg(Kind::tensor_list, l.data(), l.size()) {}
  Arg(const std::vector<Tensor>& l) : Arg(Kind::tensor_list, l.data(), l.size()) {}
  Arg(const Scalar& s) : kind(Kind::scalar), pointer(&s) {}
  Arg(std::span<const Scalar> l) : Arg(Kind::scalar_list, l.data(), l.size()) {}
  Arg(List<Tensor> l) : Arg(Kind::tensor_list, l.data(), l.size()) {}
  Arg(List<Scalar> l) : Arg(Kind::scalar_list, l.data(), l.size()) {}
  Arg(List<double> l) : Arg(Kind::float_list, l.data(), l.size()) {}
  Arg(List<bool> l) : Arg(Kind::bool_list, l.data(), l.size()) {}
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  Arg(T i) : kind(Kind::integer), integer(static_cast<int64_t>(i)) {}
  Arg(IntList l) : Arg(Kind::int_list, l.data(), l.size()) {}
  template <std::floating_point T>
  Arg(T d) : kind(Kind::floating), floating(static_cast<double>(d)) {}
  Arg(std::span<const double> l) : Arg(Kind::float_list, l.data(), l.size()) {}
  template <std::same_as<bool> T>
  Arg(T b) : kind(Kind::boolean), integer(b) {}
  Arg(std::span<const bool> l) : Arg(Kind::bool_list, l.data(), l.size()) {}
  Arg(const std::vector<bool>& l) : Arg(Kind::packed_bools, &l, l.size()) {}
  Arg(std::string_view s) : Arg(Kind::string, s.data(), s.size()) {}
  Arg(DType t) : kind(Kind::dtype), integer(static_cast<int64_t>(t)) {}
  Arg(Layout l) : kind(Kind::layout), integer(static_cast<int64_t>(l)) {}
  Arg(MemoryFormat f) : kind(Kind::memory_format), integer(static_cast<int64_t>(f)) {}
  Arg(Device d) : kind(Kind::device), device(d) {}
  Arg(const Generator& g) : kind(Kind::generator), pointer(&g) {}
  Arg(const Storage& s) : kind(Kind::storage), pointer(&s) {}
  template <typename T>
    requires std::constructible_from<Arg, const T&>
  Arg(const std::optional<T>& o) : Arg(o ? Arg(*o) : Arg(std::nullopt)) {}
  // A boxed value; it outlives the Arg.
  PRIMSET_API static Arg of(const Value& value);

  Arg(Kind k, const void* p, size_t n) : kind(k), count(static_cast<uint32_t>(n)), pointer(p) {}
};

using Op = Operator;

// `args` follows the schema. The number of tensor results is the schema's.
PRIMSET_API Tensor call_tensor(const Op& op, std::span<const Arg> args);
PRIMSET_API void call_tensors(const Op& op, std::span<const Arg> args, std::span<Tensor> results);
PRIMSET_API void call_void(const Op& op, std::span<const Arg> args);
// One Value a return of the schema.
PRIMSET_API std::vector<Value> call_values(const Op& op, std::span<const Arg> args);
PRIMSET_API Value call_value(const Op& op, std::span<const Arg> args);

}  // namespace primset::detail

#endif  // PRIMSET_DETAIL_CALL_H_
