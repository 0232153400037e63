// Operators that take an element at a time and keep zero, so that what is not stored stays so: they
// are called on the values.
#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

Tensor sparse_self(const SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_sparse(self))
    call.fail(fmt::format("expected self and result of one sparse layout, but self has layout {}",
                          layout_name(self.layout())));
  return self;
}

// The tensor itself where its values are what comes of them, as real numbers conjugated.
std::vector<Tensor> on_values(const SparseCall& call, const Tensor& self) {
  const Tensor& own = parts_of(self).values;
  const Tensor values = call.functional({{"self", own}});
  return {values.impl() == own.impl() ? self : with_values(self, values)};
}

std::vector<Tensor> on_values_in_place(const SparseCall& call, const Tensor& self) {
  call.again({{"self", parts_of(self).values}});
  return {self};
}

}  // namespace

// Not of sums, so that entries of one place must have become one.
std::vector<Tensor> sparse_functions::map_values(SparseCall& call) {
  const Tensor self = sparse_self(call);
  if (call.in_place()) {
    if (is_coo(self) && !parts_of(self).coalesced)
      call.fail(fmt::format("{} requires coalesced input", call.op()));
    return on_values_in_place(call, self);
  }
  return on_values(call, is_coo(self) ? coalesced(self) : self);
}

// The operator of a sum is the sum of the operator's results.
std::vector<Tensor> sparse_functions::map_linear(SparseCall& call) {
  const Tensor self = sparse_self(call);
  return call.in_place() ? on_values_in_place(call, self) : on_values(call, self);
}

std::vector<Tensor> sparse_functions::cast_values(SparseCall& call) {
  const Tensor self = sparse_self(call);
  const Tensor values = call.functional({{"self", parts_of(self).values}});
  return {values.dtype() == self.dtype() ? self : with_values(self, values)};
}

std::vector<Tensor> sparse_functions::power_of_values(SparseCall& call) {
  const Scalar exponent = call.scalar("exponent");
  if (!exponent.to_bool())
    call.fail(
        "cannot raise to zeroth power on sparse tensor; it would make the result tensor dense");
  return map_values(call);
}

// The gradient counts where self has entries; of other entries of its own nothing is known.
std::vector<Tensor> sparse_functions::threshold_gradient(SparseCall& call) {
  const Tensor grad = call.tensor("grad_output");
  Tensor self = sparse_self(call);
  if (!is_sparse(grad))
    call.fail(fmt::format("expected grad_output of a sparse layout as self, but got {}",
                          layout_name(grad.layout())));
  if (is_coo(self)) self = coalesced(self);
  const Tensor at_self = op("sparse_mask", grad, self);
  const Tensor values =
      call.functional({{"grad_output", parts_of(at_self).values}, {"self", parts_of(self).values}});
  return {with_values(self, values)};
}

}  // namespace primset::runtime
