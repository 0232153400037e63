// Operators on tensors of sparse layouts. A sparse tensor is made of strided ones (sparse_parts.h),
// and what computes an operator on it (`sparse:` in specs/ops) is a function on the host that calls
// other operators on these parts; so it runs on every device.
//
//   std::vector<Tensor> sparse_functions::values_of(SparseCall& call) {
//     const Tensor self = call.tensor("self");
//     return {alias_of(call.compressed_or_coalesced(self).values)};
//   }
//
// A function gets the arguments and returns one tensor for each result, as of the functional
// overload: the engine puts them into what in-place and out= overloads write.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_SPARSE_CALL_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_SPARSE_CALL_H_

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/sparse/sparse_functions.h"
#include "sdk/runtime/tensor/sparse_tensor.h"

namespace primset::runtime {

using Ints = std::span<const int64_t>;
using Sizes = std::vector<int64_t>;

// Does a tensor argument have a sparse layout, or does an argument ask for one?
bool is_sparse_call(const Call& call);
// Runs call.op.sparse and puts its results in place. Throws Error{not_implemented} where the
// operator has none.
void run_sparse(Call& call);

// The arguments by the schema's names, of whichever of the overloads was called: an argument that
// this one has not is as one left out.
class SparseCall {
 public:
  explicit SparseCall(Call& call) : call_(call) {}

  Call& call() { return call_; }
  std::string_view op() const { return call_.op.overload.op; }
  const specs::Overload& overload() const { return call_.op.overload; }
  bool has(std::string_view name) const;  // it is there, and not None
  // Undefined where there is none. A number passed for a tensor becomes one of rank 0.
  Tensor tensor(std::string_view name) const;
  std::vector<Tensor> tensors(std::string_view name) const;
  Ints ints(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise = 0) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  std::vector<bool> flags(std::string_view name) const;
  Scalar scalar(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  std::optional<DType> dtype(std::string_view name = "dtype") const;
  std::optional<Layout> layout(std::string_view name = "layout") const;
  // The device that the call names, or `otherwise`'s.
  Device device(const Tensor& otherwise) const;
  const Arg& arg(std::string_view name) const;  // None where there is none

  // Is self written, by an in-place overload?
  bool in_place() const { return call_.op.overload.kind == specs::OverloadKind::inplace; }
  // Calls the operator itself with other tensors in place of arguments: as it was called, or the
  // functional overload.
  struct Replacement {
    std::string_view name;
    Tensor tensor;
  };
  using Replacements = std::initializer_list<Replacement>;
  Tensor again(Replacements with) const;
  Tensor functional(Replacements with) const;

  // The result of an operator that returns no tensor.
  void answer(Value value) { call_.value = std::move(value); }
  [[noreturn]] void fail(std::string text, ErrorCode code = ErrorCode::runtime) const;

 private:
  Tensor call_with(const OperatorInfo& op, Replacements with) const;

  Call& call_;
};

// --- calls of operators on parts -----------------------------------------------------------------

// op("add.Tensor", a, b, Scalar(2)): the arguments in the schema's order, trailing ones left out.
template <typename... Args>
Tensor op(std::string_view qualified, const Args&... args) {
  const std::array<Arg, sizeof...(Args)> list{Arg(args)...};
  return call_operator(qualified, list);
}
// The same of an operator with several results.
std::vector<Tensor> call_operators(std::string_view qualified, std::span<const Arg> args);
template <typename... Args>
std::vector<Tensor> ops(std::string_view qualified, const Args&... args) {
  const std::array<Arg, sizeof...(Args)> list{Arg(args)...};
  return call_operators(qualified, list);
}
// The number that a tensor of one element holds; the device is waited for.
int64_t integer_in(const Tensor& t);
// A new handle on the same memory, whose geometry can be changed by itself.
Tensor alias_of(const Tensor& t);

// --- sparse tensors ------------------------------------------------------------------------------

inline bool is_sparse(const Tensor& t) {
  return t.defined() && t.impl()->sparse != nullptr;
}
inline bool is_coo(const Tensor& t) {
  return t.defined() && t.layout() == Layout::sparse_coo;
}
inline bool is_compressed(const Tensor& t) {
  return is_sparse(t) && !is_coo(t);
}
// The compressed layout that an operator's name says: of sparse_bsr_tensor and to_sparse_bsr BSR.
std::optional<Layout> layout_in_name(std::string_view op);
inline const SparseParts& parts_of(const Tensor& t) {
  return *t.impl()->sparse;
}
// COO: how many leading dims are sparse, how many entries are stored.
int64_t sparse_dims(const Tensor& t);
int64_t dense_dims(const Tensor& t);      // trailing dims of the values, of any layout
int64_t batch_dims(const Tensor& t);      // of a compressed layout
int64_t stored_entries(const Tensor& t);  // of one matrix of a batch
// COO with ascending indices, none twice; itself where it is so already.
Tensor coalesced(const Tensor& t);
// The same indices beside other values, which may have other dense dims or another dtype.
Tensor with_values(const Tensor& t, const Tensor& values);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_SPARSE_CALL_H_
