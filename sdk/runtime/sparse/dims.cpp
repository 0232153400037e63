// Operators that say in other words how dims of sparse tensors change places, come and go.
#include <algorithm>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

Tensor conjugate_of(const Tensor& t) {
  return is_complex(t.dtype()) ? op("conj_physical", t) : t;
}

// The dims of `source` go to the places of `destination`, the others to those left, in order.
Sizes moved_dims(const SparseCall& call, int64_t rank, Ints source, Ints destination) {
  if (source.size() != destination.size())
    call.fail(
        fmt::format("Invalid source or destination dims: source ({} dims) should contain the "
                    "same number of dims as destination ({} dims)",
                    list_text(source), list_text(destination)));
  constexpr int64_t kFree = -1;
  Sizes at(static_cast<size_t>(rank), kFree), rest = counting(0, rank);
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrapped_dim(source[i], rank);
    int64_t& to = at[static_cast<size_t>(wrapped_dim(destination[i], rank))];
    if (to != kFree || std::erase(rest, from) == 0)
      call.fail(fmt::format("repeated dim in source {} or destination {}", list_text(source),
                            list_text(destination)));
    to = from;
  }
  auto next = rest.begin();
  for (int64_t& d : at) {
    if (d == kFree) d = *next++;
  }
  return at;
}

Tensor at_least(Tensor t, int64_t rank) {
  if (t.dim() < 1) t = op("unsqueeze", t, int64_t{0});
  if (t.dim() < 2 && rank > 1) t = op("unsqueeze", t, int64_t{0});
  return t.dim() < 3 && rank > 2 ? op("unsqueeze", t, int64_t{-1}) : t;
}

std::vector<Tensor> joined_at_least(const SparseCall& call, int64_t rank, int64_t dim) {
  std::vector<Tensor> tensors = call.tensors("tensors");
  for (Tensor& t : tensors) t = at_least(t, rank);
  return {op("cat", tensors, dim)};
}

}  // namespace

std::vector<Tensor> sparse_functions::conjugate(SparseCall& call) {
  return {conjugate_of(call.tensor("self"))};
}

std::vector<Tensor> sparse_functions::adjoin_matrix(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (self.dim() < 2)
    call.fail(fmt::format("expected a matrix or a batch of such, but got {} dims", self.dim()));
  return {conjugate_of(op("transpose.int", self, int64_t{-2}, int64_t{-1}))};
}

std::vector<Tensor> sparse_functions::move_dims(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const int64_t source = call.integer("source"), destination = call.integer("destination");
  const bool lists = call.arg("source").kind == Arg::Kind::int_list;
  const Sizes dims =
      lists ? moved_dims(call, self.dim(), call.ints("source"), call.ints("destination"))
            : moved_dims(call, self.dim(), IntList{source}, IntList{destination});
  return {op("permute", self, IntList(dims))};
}

std::vector<Tensor> sparse_functions::reverse_dims(SparseCall& call) {
  const Tensor self = call.tensor("self");
  Sizes dims = counting(0, self.dim());
  std::ranges::reverse(dims);
  return {op("permute", self, IntList(dims))};
}

// atleast_2d: the number of dims is in the name.
std::vector<Tensor> sparse_functions::dims_at_least(SparseCall& call) {
  constexpr std::string_view kName = "atleast_";
  const int64_t rank = call.op()[kName.size()] - '0';
  if (call.has("self")) return {at_least(call.tensor("self"), rank)};
  std::vector<Tensor> tensors = call.tensors("tensors");
  for (Tensor& t : tensors) t = at_least(t, rank);
  return tensors;
}

std::vector<Tensor> sparse_functions::select_each(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const int64_t dim = wrapped_dim(call.integer("dim"), self.dim());
  std::vector<Tensor> out;
  for (int64_t i = 0; i < self.size(dim); ++i) out.push_back(op("select.int", self, dim, i));
  return out;
}

// reshape_as and its kin: the other tensor's sizes alone count.
std::vector<Tensor> sparse_functions::sizes_of_other(SparseCall& call) {
  const std::string_view name = call.op().substr(0, call.op().find("_as"));
  return {op(name, call.tensor("self"), call.tensor("other").sizes())};
}

std::vector<Tensor> sparse_functions::sizes_as_tensor(SparseCall& call) {
  const Ints sizes = call.tensor("self").sizes();
  return {Tensor::of(sizes, {static_cast<int64_t>(sizes.size())}, Device())};
}

std::vector<Tensor> sparse_functions::stack_rows(SparseCall& call) {
  return joined_at_least(call, 2, 0);
}

std::vector<Tensor> sparse_functions::stack_side_by_side(SparseCall& call) {
  const bool vectors = call.tensors("tensors")[0].dim() < 2;
  return joined_at_least(call, 1, vectors ? 0 : 1);
}

std::vector<Tensor> sparse_functions::stack_in_depth(SparseCall& call) {
  return joined_at_least(call, 3, 2);
}

std::vector<Tensor> sparse_functions::stack_columns(SparseCall& call) {
  std::vector<Tensor> tensors = call.tensors("tensors");
  for (Tensor& t : tensors) {
    t = at_least(t, 1);
    if (t.dim() == 1) t = op("unsqueeze", t, int64_t{1});
  }
  return {op("cat", tensors, int64_t{1})};
}

}  // namespace primset::runtime
