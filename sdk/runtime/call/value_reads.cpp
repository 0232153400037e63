// Intrinsics of operators whose results depend on a value in more than their elements: where a view
// starts, how large the result is, which arguments are written. In an eager call the value is read
// first; a graph, which cannot read one, takes the number as an argument.
#include <fmt/format.h>

#include <algorithm>

#include "sdk/runtime/call/aliasing.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/call/intrinsics.h"

namespace primset::runtime {
namespace {

uint32_t index_of(const Call& call, std::string_view name) {
  return static_cast<uint32_t>(call.op.overload.find_arg(name));
}

int64_t number_in(const Tensor& t) {
  return t.item().to_int();
}

int64_t count_of(const TensorImpl& t) {
  int64_t n = 1;
  for (int64_t s : t.sizes()) n *= s;
  return n;
}

// The call as another overload makes it, which has these arguments, or their first ones, in this
// order; as many results as this one returns.
void pass_on(Call& call, std::string_view overload) {
  Call other(OperatorRegistry::instance().at(overload));
  for (size_t i = 0; i < other.op.args.size(); ++i) other.args.push_back(call.args[i]);
  dispatch(other);
  for (size_t k = 0; k < other.results.size(); ++k)
    call.add_result(other.results.take(k), other.origins[k]);
}

// How often the elements of `self` along dim, or of all of it, are repeated by one number.
int64_t repeated_length(const TensorImpl& self, const Arg& dim) {
  if (dim.kind != Arg::Kind::integer) return count_of(self);
  const auto rank = static_cast<int64_t>(self.rank);
  const int64_t d = dim.integer < 0 ? dim.integer + rank : dim.integer;
  return d >= 0 && d < rank ? self.sizes()[static_cast<size_t>(d)] : 0;
}

bool is_index(DType t) {
  return t == DType::i32 || t == DType::i64;
}

}  // namespace

void intrinsics::read_number(Call& call) {
  call.value = Value(handle_of(*call.tensor(0)).item());
}

void intrinsics::read_truth(Call& call) {
  const TensorImpl& t = *call.tensor(0);
  const int64_t count = count_of(t);
  if (count != 1)
    throw Error(ErrorCode::runtime, fmt::format("Boolean value of Tensor with {} is ambiguous",
                                                count == 0 ? "no values" : "more than one value"));
  call.value = Value(handle_of(t).item().to_bool());
}

namespace {

[[noreturn]] void refuse_indices(const Call& call, std::string_view name, std::string_view what) {
  throw Error(ErrorCode::runtime,
              fmt::format("{} expected {} to {}", call.op.overload.op, name, what));
}

std::vector<int64_t> numbers_in(const TensorImpl& t) {
  const Tensor host = handle_of(t).to(Device("cpu"));
  std::vector<int64_t> out(static_cast<size_t>(count_of(t)));
  if (!out.empty()) host.copy_to_host(out.data(), out.size() * sizeof(int64_t));
  return out;
}

}  // namespace

// tensor_split.tensor_indices_or_sections: a number of parts, or where they begin.
void intrinsics::split_at_tensor(Call& call) {
  constexpr std::string_view kName = "tensor_indices_or_sections";
  const TensorImpl& at = *call.tensor(1);
  if (at.dtype != DType::i64)
    refuse_indices(call, kName, fmt::format("have dtype of long, but got {}", name(at.dtype)));
  if (at.rank > 1)
    refuse_indices(call, kName,
                   fmt::format("be a zero-dimensional or one-dimensional tensor, but "
                               "got a tensor with {} dims",
                               int{at.rank}));
  const std::vector<int64_t> places = numbers_in(at);
  call.args[1] = at.rank == 0 ? Arg(places[0]) : Arg(IntList(places));
  pass_on(call, at.rank == 0 ? "tensor_split.sections" : "tensor_split.indices");
}

void intrinsics::reshape_to_tensor(Call& call) {
  const TensorImpl& shape = *call.tensor(1);
  if (shape.dtype != DType::i64)
    refuse_indices(call, "shape", fmt::format("have dtype long, but got {}", name(shape.dtype)));
  if (shape.rank != 1)
    refuse_indices(call, "shape", fmt::format("have one dim, but got {}", int{shape.rank}));
  const std::vector<int64_t> sizes = numbers_in(shape);
  call.args[1] = Arg(IntList(sizes));
  pass_on(call, "reshape");
}

// narrow.Tensor: a view from the place that a tensor names.
void intrinsics::narrow_at_tensor(Call& call) {
  const uint32_t at = index_of(call, "start");
  const TensorImpl& start = *call.tensor(at);
  if (start.rank != 0 || !is_integral(start.dtype))
    throw Error(ErrorCode::runtime, "start must be an 0-dim integral Tensor.");
  call.args[at] = Arg(number_in(handle_of(start)));
  pass_on(call, "narrow");
}

// repeat_interleave without output_size: as many results as the repeats add up to.
void intrinsics::repeat_by_tensor(Call& call) {
  const TensorImpl& repeats = *call.tensor(index_of(call, "repeats"));
  Arg& size = call.args[index_of(call, "output_size")];
  // What is wrong with the repeats themselves is for the operator to say.
  if (size.kind == Arg::Kind::none && repeats.rank <= 1 && is_index(repeats.dtype)) {
    const Tensor counts = handle_of(repeats);
    const Arg arguments[] = {counts, std::nullopt};
    int64_t total = number_in(call_operator("sum", arguments));
    const int self = call.op.overload.find_arg("self");
    if (self >= 0 && count_of(repeats) == 1)
      total *= repeated_length(*call.tensor(static_cast<size_t>(self)),
                               call.args[index_of(call, "dim")]);
    size = Arg(std::max<int64_t>(total, 0));
  }
  dispatch_planned(call);
}

// bincount: as many bins as the greatest value needs.
void intrinsics::count_to_greatest(Call& call) {
  const TensorImpl& self = *call.tensor(0);
  Arg& length = call.args[index_of(call, "minlength")];
  if (self.rank == 1 && is_integral(self.dtype) && count_of(self) > 0 && length.integer >= 0) {
    const Tensor values = handle_of(self);
    const Arg arguments[] = {values};
    length = Arg(std::max(length.integer, number_in(call_operator("max", arguments)) + 1));
  }
  dispatch_planned(call);
}

// _padded_dense_to_jagged_forward without total_L: as many rows as the last offset says.
void intrinsics::total_of_offsets(Call& call) {
  Arg& total = call.args[index_of(call, "total_L")];
  const Arg& offsets = call.args[index_of(call, "offsets")];
  const bool one = offsets.kind == Arg::Kind::tensor_list && offsets.count == 1;
  if (total.kind == Arg::Kind::none && one) {
    const Tensor& bounds = *static_cast<const Tensor*>(offsets.pointer);
    const TensorImpl& given = *bounds.impl();
    if (given.rank == 1 && count_of(given) > 0) {
      const Arg arguments[] = {bounds, int64_t{0}, int64_t{-1}};
      total = Arg(number_in(call_operator("select.int", arguments)));
    }
  }
  dispatch_planned(call);
}

// one_hot without num_classes: as many as the greatest number needs.
void intrinsics::classes_to_greatest(Call& call) {
  const TensorImpl& self = *call.tensor(0);
  Arg& classes = call.args[index_of(call, "num_classes")];
  if (classes.integer == -1 && self.dtype == DType::i64 && count_of(self) > 0) {
    const Tensor values = handle_of(self);
    const Arg arguments[] = {values};
    // What is negative is for the operator to say.
    classes = Arg(std::max<int64_t>(number_in(call_operator("max", arguments)), 0) + 1);
  }
  dispatch_planned(call);
}

// as_strided_copy: of a view of the memory, which may reach beyond the tensor's own elements.
void intrinsics::copy_strided_view(Call& call) {
  Call view(OperatorRegistry::instance().at("as_strided"));
  for (size_t i = 0; i < view.op.args.size(); ++i) view.args.push_back(call.args[i]);
  dispatch(view);
  const Tensor viewed = view.results.take(0);
  if (call.op.outs.empty()) {
    const Arg arguments[] = {viewed, MemoryFormat::contiguous};
    return call.add_result(call_operator("clone", arguments), {});
  }
  const uint32_t at = call.op.outs[0];
  const Tensor out = handle_of(*call.tensor(at));
  const DType wanted = out.impl()->dtype, given = viewed.impl()->dtype;
  if (wanted != given)
    throw Error(ErrorCode::runtime,
                fmt::format("Expected out tensor to have dtype {}, but got {} instead",
                            info(given).cpp_name, info(wanted).cpp_name));
  SmallVector<int64_t, kInlineRank> strides;
  strides.resize_uninitialized(viewed.sizes().size());
  contiguous_strides(viewed.sizes(), strides.span());
  resize_output(*out.impl(), viewed.sizes(), strides);
  const Arg arguments[] = {out, viewed, false};
  call_operator("copy_", arguments);
  call.add_result(out, {ResultOrigin::Kind::argument, at});
}

// native_batch_norm and batch_norm in training update the running statistics, which their schemas
// do not say: the overload whose schema does is called.
void intrinsics::update_statistics(Call& call) {
  const bool training = call.args[index_of(call, "training")].integer != 0;
  const bool running = call.tensor(index_of(call, "running_mean")) != nullptr &&
                       call.tensor(index_of(call, "running_var")) != nullptr;
  if (!training || !running) return dispatch_planned(call);
  pass_on(call, call.op.outs.empty() ? "_native_batch_norm_legit" : "_native_batch_norm_legit.out");
}

}  // namespace primset::runtime
