// _fused_sdp_choice: whether attention of these tensors is worth one kernel, as ATen decides it on
// the CPU. Callers compare the answer with torch.nn.attention.SDPBackend.
#include <algorithm>
#include <array>

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/intrinsics.h"

namespace primset::runtime {
namespace {

enum Backend : int64_t { kMath = 0, kFlash = 1 };

bool flag(const Call& call, std::string_view name) {
  return call.args[static_cast<size_t>(call.op.overload.find_arg(name))].integer != 0;
}

bool drops(const Call& call) {
  const Arg& p = call.args[static_cast<size_t>(call.op.overload.find_arg("dropout_p"))];
  return (p.kind == Arg::Kind::integer ? static_cast<double>(p.integer) : p.floating) > 0;
}

bool fuse_heads(std::span<const int64_t> q, std::span<const int64_t> k, std::span<const int64_t> v,
                bool grouped) {
  const bool one_batch = q[0] == k[0] && q[0] == v[0], together = k[1] == v[1];
  const bool served = grouped ? k[1] != 0 && q[1] % k[1] == 0 : q[1] == k[1];
  return one_batch && together && served;
}

// Masks of [queries, keys], with batch and heads before them or not.
bool fits_mask(const TensorImpl* mask, std::span<const int64_t> q, std::span<const int64_t> k) {
  if (!mask) return true;
  const auto sizes = mask->sizes();
  if (sizes.size() < 2)
    throw Error(ErrorCode::index,
                "_fused_sdp_choice: Dimension out of range: expected attn_mask of 2 dims at least");
  const auto fits = [](int64_t size, int64_t want) { return size == 1 || size == want; };
  const size_t r = sizes.size();
  if (!fits(sizes[r - 2], q[2]) || !fits(sizes[r - 1], k[2])) return false;
  return r == 2 || (r == 4 && fits(sizes[0], q[0]) && fits(sizes[1], q[1]));
}

bool steps_by_one(const TensorImpl& t) {
  return t.strides()[3] == 1;
}

bool is_fused(const Call& call) {
  const std::array tensors = {call.tensor(0), call.tensor(1), call.tensor(2)};
  const auto all = [&](auto holds) {
    return std::ranges::all_of(tensors, [&](const TensorImpl* t) { return holds(*t); });
  };
  if (drops(call) || !all([](const TensorImpl& t) { return t.rank == 4; })) return false;
  const auto q = tensors[0]->sizes(), k = tensors[1]->sizes(), v = tensors[2]->sizes();
  if (!fuse_heads(q, k, v, flag(call, "enable_gqa"))) return false;
  if (!fits_mask(call.tensor(3), q, k)) return false;
  const DType type = tensors[0]->dtype;
  return q[3] == k[3] && q[3] == v[3] && q[2] != 0 && k[2] != 0 && all(steps_by_one) &&
         is_floating(type) && !is_float8(type) &&
         all([&](const TensorImpl& t) { return t.dtype == type; });
}

}  // namespace

void intrinsics::fused_attention_choice(Call& call) {
  call.value = Value(int64_t{is_fused(call) ? kFlash : kMath});
}

}  // namespace primset::runtime
