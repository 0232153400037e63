// Intrinsics of operators over sequences. How large their results are stands in lengths: these are
// read first, and what the plan sees are rows of one length, so that one plan serves all lengths.
#include <algorithm>

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/call/intrinsics.h"

namespace primset::runtime {
namespace {

using Lengths = std::vector<int64_t>;

uint32_t position_of(const Call& call, std::string_view name) {
  return static_cast<uint32_t>(call.op.overload.find_arg(name));
}

Tensor tensor_at(const Call& call, std::string_view name) {
  const TensorImpl* t = call.tensor(position_of(call, name));
  return handle_of(*t);
}

// The numbers of a list or of a vector.
Lengths lengths_in(const Call& call, const char* name) {
  const Arg& arg = call.args[position_of(call, name)];
  if (arg.kind == Arg::Kind::int_list) {
    const auto* first = static_cast<const int64_t*>(arg.pointer);
    return {first, first + arg.count};
  }
  const Tensor given = tensor_at(call, name);
  if (!is_integral(given.dtype()))
    throw Error(ErrorCode::runtime, std::string(name) + " must be integral");
  const Arg arguments[] = {given, DType::i64};
  return call_operator("to.dtype", arguments).to_vector<int64_t>();
}

struct Alignments {
  Lengths inputs, targets;
  int64_t longest = 0, total = 0;  // of the targets
};

Alignments alignments_of(const Call& call) {
  Alignments a{lengths_in(call, "input_lengths"), lengths_in(call, "target_lengths")};
  for (int64_t n : a.targets) {
    a.longest = std::max(a.longest, n);
    a.total += std::max<int64_t>(n, 0);
  }
  return a;
}

bool within(const Lengths& lengths, int64_t batch, int64_t most) {
  return static_cast<int64_t>(lengths.size()) == batch &&
         std::all_of(lengths.begin(), lengths.end(),
                     [&](int64_t n) { return n >= 0 && n <= most; });
}

// Whether nothing is wrong with the lengths; else the operator says what.
bool fits(const Alignments& a, const Tensor& log_probs, const Tensor& targets) {
  if (log_probs.dim() < 2 || log_probs.numel() == 0) return false;
  const int64_t batch = log_probs.dim() == 3 ? log_probs.size(1) : 1;
  const bool rows = targets.dim() == 2 && targets.size(0) == batch && targets.size(1) >= a.longest;
  const bool flat = targets.dim() == 1 && targets.size(0) == a.total;
  return (rows || flat) && within(a.inputs, batch, log_probs.size(0)) &&
         within(a.targets, batch, a.longest);
}

// [batch, longest]: cut, or taken one after another. Behind a target's end there is any label.
Tensor target_rows(const Tensor& targets, const Alignments& a) {
  const auto batch = static_cast<int64_t>(a.targets.size());
  if (a.longest == 0) return Tensor::empty({batch, 0}, targets.dtype(), targets.device());
  if (targets.dim() == 2) {
    const Arg arguments[] = {targets, 1, 0, a.longest};
    return call_operator("narrow", arguments);
  }
  Lengths places;
  int64_t start = 0;
  for (int64_t n : a.targets) {
    for (int64_t k = 0; k < a.longest; ++k) places.push_back(std::min(start + k, a.total - 1));
    start += n;
  }
  const Tensor index =
      Tensor::of(std::span<const int64_t>(places), {batch, a.longest}, targets.device());
  const Arg arguments[] = {targets, index};
  return call_operator("take", arguments);
}

void take_results(Call& call, Call& other) {
  for (size_t k = 0; k < call.op.overload.returns.size(); ++k)
    call.add_result(other.results.take(k), other.origins[k]);
}

// The same operator's overload with its lengths in lists, or in tensors.
const OperatorInfo& sibling(const Call& call, std::string_view functional, std::string_view out) {
  const std::string op = call.op.overload.op;
  return OperatorRegistry::instance().at(op + std::string(call.op.outs.empty() ? functional : out));
}

void copy_arguments(const Call& call, Call& other) {
  for (size_t i = 0; i < other.op.args.size(); ++i) other.args.push_back(call.args[i]);
}

}  // namespace

void intrinsics::align_by_lengths(Call& call) {
  const Alignments a = alignments_of(call);
  const Tensor log_probs = tensor_at(call, "log_probs"), targets = tensor_at(call, "targets");
  const uint32_t inputs = position_of(call, "input_lengths"),
                 labels = position_of(call, "target_lengths");
  if (!fits(a, log_probs, targets)) {
    const bool reduced = call.op.overload.op == "ctc_loss";
    Call other(sibling(call, reduced ? ".IntList" : "", ".out"));
    copy_arguments(call, other);
    other.args[inputs] = Arg(IntList(a.inputs));
    other.args[labels] = Arg(IntList(a.targets));
    dispatch_planned(other);
    return take_results(call, other);
  }
  const auto vector = [&](const Lengths& n) {
    return Tensor::of(std::span<const int64_t>(n), {static_cast<int64_t>(n.size())},
                      log_probs.device());
  };
  const Tensor input_lengths = vector(a.inputs), target_lengths = vector(a.targets);
  Tensor rows = target_rows(targets, a);
  if (log_probs.dim() == 2) {
    const Arg arguments[] = {rows, 0, 0};
    rows = call_operator("select.int", arguments);
  }
  Call other(sibling(call, ".Tensor", ".Tensor_out"));
  copy_arguments(call, other);
  other.args[position_of(call, "targets")] = Arg(rows);
  other.args[inputs] = Arg(input_lengths);
  other.args[labels] = Arg(target_lengths);
  dispatch_planned(other);
  take_results(call, other);
}

// _pad_packed_sequence: the first step has as many rows as there are sequences. The gradient of
// packing unpacks; what it leaves 0 gets the padding.
void intrinsics::pad_by_batch_sizes(Call& call) {
  const Tensor data = tensor_at(call, "data"), batch_sizes = tensor_at(call, "batch_sizes");
  const bool known = batch_sizes.dim() == 1 && batch_sizes.dtype() == DType::i64 &&
                     batch_sizes.numel() > 0 && data.dim() > 0;
  const int64_t total = call.args[position_of(call, "total_length")].integer;
  const int64_t steps = known ? batch_sizes.numel() : 0, time = total > 0 ? total : steps;
  if (!known || time < steps) return dispatch_planned(call);
  const Lengths counts = batch_sizes.to_vector<int64_t>();
  const int64_t batch = std::max<int64_t>(counts[0], 0);
  const Arg& batch_first = call.args[position_of(call, "batch_first")];
  Lengths lengths(static_cast<size_t>(batch)), sizes(data.sizes().begin(), data.sizes().end());
  sizes[0] = batch_first.integer ? time : batch;
  sizes.insert(sizes.begin(), batch_first.integer ? batch : time);
  // First, as it says where there are more elements than there can be.
  const Arg arguments[] = {data, IntList(sizes), batch_sizes, batch_first};
  const Tensor unpacked = call_operator("_pack_padded_sequence_backward", arguments);
  std::vector<uint8_t> padding(static_cast<size_t>(batch * time));
  for (int64_t t = 0; t < time; ++t) {
    for (int64_t b = 0; b < batch; ++b) {
      const bool inside = t < steps && b < counts[static_cast<size_t>(t)];
      lengths[static_cast<size_t>(b)] += inside;
      padding[static_cast<size_t>(batch_first.integer ? b * time + t : t * batch + b)] = !inside;
    }
  }
  Lengths shape(sizes.size(), 1);
  shape[0] = sizes[0], shape[1] = sizes[1];
  const Tensor mask = Tensor::from_host(padding.data(), shape, DType::boolean, data.device());
  const Arg filled[] = {unpacked, mask, call.args[position_of(call, "padding_value")]};
  call.add_result(call_operator("masked_fill_.Scalar", filled), {});
  call.add_result(Tensor::of(std::span<const int64_t>(lengths), {batch}, data.device()), {});
}

}  // namespace primset::runtime
