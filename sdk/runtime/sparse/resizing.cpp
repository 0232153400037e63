#include "sdk/runtime/sparse/resizing.h"

#include <algorithm>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

constexpr const char* kOptions =
    "You could try the following options: 1. If you need an empty sparse tensor of this size, call "
    "`x = torch.sparse_coo_tensor(size)`. 2. If you need to resize this tensor, you have the "
    "following options: 1. For both sparse and dense dimensions, keep the number of them constant "
    "and the size of them non-shrinking, and then try the same call again. 2. Or, create a new "
    "sparse tensor with the correct indices and values from this sparse tensor.";

// Does any size become smaller?
bool shrinks(Ints from, Ints to) {
  for (size_t d = 0; d < from.size(); ++d) {
    if (to[d] < from[d]) return true;
  }
  return false;
}

void require_dims_of(const SparseCall& call, Ints sizes, int64_t sparse, int64_t dense) {
  if (sparse < 0 || dense < 0 || sparse + dense != static_cast<int64_t>(sizes.size()))
    call.fail(
        fmt::format("'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {}, "
                    "sparse_dim = {}, dense_dim = {}",
                    sizes.size(), sparse, dense));
}

Tensor without_entries(const Tensor& self, Ints sizes, int64_t sparse) {
  const Sizes values = concat({IntList{0}, sizes.subspan(static_cast<size_t>(sparse))});
  return make_coo(op("new_empty", parts_of(self).indices, IntList{sparse, 0}),
                  op("new_empty", parts_of(self).values, IntList(values)), sizes, true);
}

Tensor resized_coo(const SparseCall& call, const Tensor& self, Ints sizes, int64_t sparse,
                   int64_t dense) {
  require_resizable(call, self, sizes, sparse, dense);
  const int64_t stored = stored_entries(self);
  if (stored == 0) return without_entries(self, sizes, sparse);
  const SparseParts& parts = parts_of(self);
  Tensor values = parts.values;
  const Sizes wanted = concat({IntList{stored}, sizes.subspan(static_cast<size_t>(sparse))});
  // As ATen resizes the values: more elements over the same memory.
  if (!std::ranges::equal(values.sizes(), wanted))
    values = op("resize_", op("clone", values), IntList(wanted));
  return make_coo(parts.indices, values, sizes, parts.coalesced);
}

// The pattern of the template, with as many values of the tensor's own as there are.
Tensor resized_as_compressed(const SparseCall& call, const Tensor& self, const Tensor& model) {
  if (self.layout() != model.layout())
    call.fail(fmt::format("expected self and the_template of one layout, but got {} and {}",
                          layout_name(self.layout()), layout_name(model.layout())));
  SparseParts parts = parts_of(model);
  parts.compressed = op("clone", parts.compressed);
  parts.plain = op("clone", parts.plain);
  parts.values = op("resize_", op("clone", parts_of(self).values), parts_of(model).values.sizes());
  return make_sparse(std::move(parts), model.sizes());
}

void require_csr_resizable(const SparseCall& call, const Tensor& self, Ints sizes) {
  if (self.layout() != Layout::sparse_csr || self.dim() != 2)
    call.fail(fmt::format("expected self of layout sparse_csr and rank 2, but got {} of rank {}",
                          layout_name(self.layout()), self.dim()),
              ErrorCode::not_implemented);
  if (sizes.size() != 2)
    call.fail(
        fmt::format("Only 2D sparse CSR tensors are supported, but got size {}", list_text(sizes)));
  if (sizes[1] < self.size(1))
    call.fail(
        fmt::format("Resizing columns of sparse CSR tensors to a smaller value is not "
                    "supported. The original number of columns is {} while the requested new "
                    "number of columns is {}.",
                    self.size(1), sizes[1]));
}

}  // namespace

void require_resizable(const SparseCall& call, const Tensor& self, Ints sizes, int64_t sparse,
                       int64_t dense) {
  if (stored_entries(self) == 0) return;
  const auto refuse = [&](std::string what) {
    call.fail(fmt::format("{} on a non-empty sparse tensor is not supported. {}", what, kOptions));
  };
  const auto changed = [&](const char* kind, int64_t from, int64_t to) {
    if (from != to)
      refuse(fmt::format("changing the number of {} dimensions (from {} to {})", kind, from, to));
  };
  changed("sparse", sparse_dims(self), sparse);
  changed("dense", dense_dims(self), dense);
  const auto smaller = [&](const char* kind, Ints from, Ints to) {
    if (shrinks(from, to))
      refuse(fmt::format("shrinking the size of {} dimensions (from {} to {})", kind,
                         list_text(from), list_text(to)));
  };
  smaller("sparse", sparse_sizes(self), sizes.first(static_cast<size_t>(sparse)));
  smaller("dense", dense_sizes(self), sizes.subspan(static_cast<size_t>(sparse)));
}

std::vector<Tensor> sparse_functions::resize_coo(SparseCall& call) {
  const Tensor self = coo_self(call);
  const int64_t sparse = call.integer("sparse_dim"), dense = call.integer("dense_dim");
  require_dims_of(call, call.ints("size"), sparse, dense);
  return {resized_coo(call, self, call.ints("size"), sparse, dense)};
}

std::vector<Tensor> sparse_functions::resize_and_clear(SparseCall& call) {
  const Tensor self = coo_self(call);
  const int64_t sparse = call.integer("sparse_dim");
  require_dims_of(call, call.ints("size"), sparse, call.integer("dense_dim"));
  return {without_entries(self, call.ints("size"), sparse)};
}

std::vector<Tensor> sparse_functions::resize_as_template(SparseCall& call) {
  const Tensor self = call.tensor("self"), model = call.tensor("the_template");
  if (is_compressed(self)) return {resized_as_compressed(call, self, model)};
  if (!is_sparse(self) && !call.op().starts_with("resize_as_sparse"))
    return {op(call.in_place() ? "resize_" : "resize", self, model.sizes())};
  if (!is_coo(model))
    call.fail(fmt::format("expected the_template of layout sparse_coo, but got {}",
                          layout_name(model.layout())));
  return {resized_coo(call, coo_self(call), model.sizes(), sparse_dims(model), dense_dims(model))};
}

// More rows are empty ones; of fewer the entries go, too.
std::vector<Tensor> sparse_functions::resize_csr(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const Ints sizes = call.ints("size");
  require_csr_resizable(call, self, sizes);
  SparseParts parts = parts_of(self);
  const int64_t rows = self.size(0), kept = std::min(rows, sizes[0]);
  const int64_t stored = integer_in(op("select.int", parts.compressed, int64_t{0}, kept));
  parts.compressed = op("slice.Tensor", parts.compressed, int64_t{0}, int64_t{0}, kept + 1);
  if (sizes[0] > rows) {
    const Tensor last = op("slice.Tensor", parts.compressed, int64_t{0}, rows, rows + 1);
    const std::vector<Tensor> all = {parts.compressed,
                                     op("expand", last, IntList{sizes[0] - rows})};
    parts.compressed = op("cat", all);
  } else {
    parts.compressed = op("clone", parts.compressed);
  }
  parts.plain = op("clone", op("slice.Tensor", parts.plain, int64_t{0}, int64_t{0}, stored));
  parts.values = op("clone", op("slice.Tensor", parts.values, int64_t{0}, int64_t{0}, stored));
  return {make_sparse(std::move(parts), sizes)};
}

}  // namespace primset::runtime
