// Copies of sparse tensors, other dtypes and devices, other contents.
#include <algorithm>

#include "sdk/runtime/sparse/entries.h"
#include "sdk/runtime/sparse/resizing.h"

namespace primset::runtime {
namespace {

// The tensor of other parts, each made of one of its own.
template <typename F>
Tensor with_each_part(const Tensor& t, F made_of) {
  SparseParts parts = parts_of(t);
  for (Tensor* part : {&parts.indices, &parts.compressed, &parts.plain, &parts.values}) {
    if (part->defined()) *part = made_of(*part);
  }
  return make_sparse(std::move(parts), t.sizes());
}

Tensor clone_of(const Tensor& t) {
  return with_each_part(t, [](const Tensor& part) { return op("clone", part); });
}

void require_preserved_format(const SparseCall& call) {
  const Arg& format = call.arg("memory_format");
  if (format.kind != Arg::Kind::none &&
      format.integer != static_cast<int64_t>(MemoryFormat::preserve))
    call.fail(
        "memory format option is only supported by strided tensors; expected "
        "torch.preserve_format for a tensor of layout " +
        std::string(layout_name(call.tensor("self").layout())));
}

Tensor cast_to(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : with_values(t, op("to.dtype", parts_of(t).values, dtype));
}

Tensor copy_into_coo(const SparseCall& call, const Tensor& self, const Tensor& src) {
  require_resizable(call, self, src.sizes(), sparse_dims(src), dense_dims(src));
  return clone_of(cast_to(src, self.dtype()).to(self.device()));
}

Tensor copy_into_compressed(const SparseCall& call, const Tensor& self, const Tensor& src) {
  if (self.layout() != src.layout())
    call.fail(
        fmt::format("copy of sparse compressed tensors having different layouts is not "
                    "supported. self layout is {} and src layout is {}",
                    torch_layout(self), torch_layout(src)));
  if (!std::ranges::equal(self.sizes(), src.sizes()))
    call.fail(
        fmt::format("expected shapes of self and src to match for {} layout but got {} and {}",
                    torch_layout(self), list_text(self.sizes()), list_text(src.sizes())));
  if (stored_entries(self) != stored_entries(src))
    call.fail(
        fmt::format("only sparse compressed tensors with the same number of specified "
                    "elements are supported, but self has {} and src {}",
                    stored_entries(self), stored_entries(src)));
  return clone_of(cast_to(src, self.dtype()).to(self.device()));
}

}  // namespace

std::vector<Tensor> sparse_functions::clone_parts(SparseCall& call) {
  require_preserved_format(call);
  return {clone_of(call.tensor("self"))};
}

// Another tensor of the same parts.
std::vector<Tensor> sparse_functions::share_parts(SparseCall& call) {
  const Tensor self = call.tensor("self");
  return {with_each_part(self, [](const Tensor& part) { return part; })};
}

std::vector<Tensor> sparse_functions::copy_entries(SparseCall& call) {
  const Tensor self = call.tensor("self"), src = call.tensor("src");
  if (is_sparse(self) != is_sparse(src))
    call.fail(
        fmt::format("copy_() between dense and sparse Tensors is not implemented! Found self "
                    "layout = {} and src layout = {}",
                    layout_name(self.layout()), layout_name(src.layout())));
  if (is_compressed(self)) return {copy_into_compressed(call, self, src)};
  if (!is_coo(src))
    call.fail(fmt::format("expected src of layout sparse_coo as self, but got {}",
                          layout_name(src.layout())));
  return {copy_into_coo(call, self, src)};
}

// to, _to_copy and type_as: another dtype or device, the tensor itself where it is so already.
std::vector<Tensor> sparse_functions::convert_entries(SparseCall& call) {
  const Tensor self = call.tensor("self"), other = call.tensor("other");
  if (const auto layout = call.layout(); layout && *layout != self.layout())
    call.fail(
        fmt::format("to(options) doesn't support converting to a different layout, but got "
                    "self.layout being {} and options.layout set as {}",
                    layout_name(self.layout()), layout_name(*layout)));
  if (!is_sparse(self)) {
    return {op("to.dtype", self.to(call.device(other)), other.dtype())};
  }
  const DType dtype = call.dtype().value_or(other.defined() ? other.dtype() : self.dtype());
  const Device device = call.device(other.defined() ? other : self);
  const bool copies = call.flag("copy") || call.op() == "_to_copy";
  const Tensor cast = cast_to(self, dtype);
  const Tensor moved = cast.device() == device ? cast : cast.to(device);
  return {copies && moved.impl() == self.impl() ? clone_of(self) : moved};
}

std::vector<Tensor> sparse_functions::itself(SparseCall& call) {
  return {call.tensor("self")};
}

// Of dims that are joined, one alone; of sizes that are summed up to, the tensor's own.
std::vector<Tensor> sparse_functions::itself_if_unchanged(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const auto counted = [&](int64_t dim) { return dim < 0 ? dim + self.dim() : dim; };
  const bool same =
      call.has("size") ? std::ranges::equal(call.ints("size"), self.sizes())
                       : counted(call.integer("start_dim")) == counted(call.integer("end_dim", -1));
  if (!same)
    call.fail(fmt::format("expected to leave a tensor of layout {} as it is, but other sizes than "
                          "its [{}] are asked for",
                          layout_name(self.layout()), fmt::join(self.sizes(), ", ")),
              ErrorCode::not_implemented);
  return {self};
}

// Of the same pattern, each value stored set to one.
std::vector<Tensor> sparse_functions::fill_values(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_compressed(self))
    call.fail(
        fmt::format("expected a compressed layout, whose stored values are filled, but got {}",
                    layout_name(self.layout())),
        ErrorCode::not_implemented);
  const Tensor& values = parts_of(self).values;
  if (!call.in_place()) return {with_values(self, call.functional({{"self", values}}))};
  call.again({{"self", values}});
  return {self};
}

// The one element of a tensor of rank 0.
std::vector<Tensor> sparse_functions::read_element(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (self.numel() != 1)
    call.fail(fmt::format("a Tensor with {} elements cannot be converted to Scalar", self.numel()));
  const Tensor strided = op("to_dense", self);
  const Scalar number = strided.item();
  const bool truth = call.op() == "is_nonzero";
  call.answer(truth ? Value(number.to_bool()) : Value(number));
  return {};
}

}  // namespace primset::runtime
