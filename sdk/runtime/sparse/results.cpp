#include "sdk/runtime/sparse/results.h"

#include <algorithm>

#include "decomps/engine/promotion.h"
#include "sdk/runtime/sparse/conversion.h"

namespace primset::runtime {
namespace {

constexpr Tensor SparseParts::* kParts[] = {&SparseParts::indices, &SparseParts::compressed,
                                            &SparseParts::plain, &SparseParts::values};

bool has_part_on(const SparseParts& parts, const Tensor& memory) {
  return std::ranges::any_of(kParts, [&](auto part) {
    return (parts.*part).defined() && (parts.*part).is_alias_of(memory);
  });
}

ResultOrigin origin_of(const Call& call, const Tensor& result) {
  ResultOrigin origin;
  if (!result.defined()) return origin;  // one that was not asked for
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t) {
    if (&t == result.impl()) origin = {ResultOrigin::Kind::argument, argument};
    if (origin.kind != ResultOrigin::Kind::fresh || !t.sparse || is_sparse(result)) return;
    if (has_part_on(*t.sparse, result)) origin = {ResultOrigin::Kind::view, argument};
  });
  return origin;
}

// --- parts of their own --------------------------------------------------------------------------

// Which arguments a result may have no memory in common with: all; or those of its own layout,
// since constructors' results are made of their strided arguments, and conversions', as in ATen, of
// values.
enum class Apart { from_all, from_layout };

bool shares_memory(const Call& call, const Tensor& part, Layout layout, Apart apart,
                   const TensorImpl* written) {
  bool shared = false;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t, uint32_t) {
    if (&t == written) return;
    if (apart == Apart::from_layout && t.layout() != layout) return;
    shared =
        shared || (t.sparse ? has_part_on(*t.sparse, part) : t.storage == part.impl()->storage);
  });
  return shared;
}

// `written` is the argument that becomes the result, and may keep its parts.
Tensor with_own_parts(const Call& call, const Tensor& result, Apart apart,
                      const TensorImpl* written) {
  SparseParts parts = parts_of(result);
  bool shares = false;
  for (const auto part : kParts) {
    Tensor& own = parts.*part;
    if (!own.defined() || !shares_memory(call, own, parts.layout, apart, written)) continue;
    own = op("clone", own,
             part == &SparseParts::values ? MemoryFormat::preserve : MemoryFormat::contiguous);
    shares = true;
  }
  return shares ? make_sparse(std::move(parts), result.sizes()) : result;
}

Tensor returned(const Call& call, const Tensor& result, size_t k) {
  const auto& returns = call.op.overload.returns;
  const bool view = k < returns.size() && returns[k].alias.letter != 0;
  const bool argument = origin_of(call, result).kind == ResultOrigin::Kind::argument;
  if (!is_sparse(result) || view || argument) return result;
  return with_own_parts(call, result, Apart::from_layout, nullptr);
}

// --- what is written -----------------------------------------------------------------------------

bool same_sizes(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.sizes(), b.sizes());
}

// As ATen does, a compressed tensor with as many entries is overwritten part by part.
bool overwritten(const TensorImpl& to, const SparseParts& parts) {
  if (to.sparse->layout != parts.layout || parts.layout == Layout::sparse_coo) return false;
  const SparseParts& own = *to.sparse;
  const bool fits = own.compressed.dtype() == parts.compressed.dtype() &&
                    same_sizes(own.compressed, parts.compressed) &&
                    same_sizes(own.plain, parts.plain) && same_sizes(own.values, parts.values);
  if (!fits) return false;
  op("copy_", own.compressed, parts.compressed, false);
  op("copy_", own.plain, parts.plain, false);
  op("copy_", own.values, parts.values, false);
  return true;
}

// Results of operators that promote nothing are copied over, from any dtype to any. An alias
// promotes as what it stands for.
void require_castable(const Call& call, DType from, DType to) {
  const specs::Overload& computed = call.op.bundle.computed_by(call.op.overload);
  const bool copied = computed.promote.kind == specs::PromoteKind::none;
  if (!copied && !decomps::can_cast(from, to))
    throw Error(ErrorCode::runtime,
                fmt::format("result type {} can't be cast to the desired output type {}",
                            info(from).torch_name, info(to).torch_name));
}

// A strided result is held to what the operator's results of strided tensors are.
void require_out_dtype(const Call& call, const Tensor& made, DType out) {
  if (made.dtype() == out) return;
  const bool exact = call.op.overload.outs.dtype == specs::OutDType::exact;
  if (!call.op.only_sparse && (!exact || is_sparse(made))) return;
  throw Error(
      ErrorCode::runtime,
      fmt::format("{}: Expected out tensor to have dtype {}, but got {} instead",
                  call.op.overload.qualified, info(made.dtype()).cpp_name, info(out).cpp_name));
}

// A written tensor keeps its layout, with blocks of the size of its own.
Tensor in_layout_of(const Tensor& result, const Tensor& target) {
  if (result.layout() == target.layout()) return result;
  if (is_coo(target)) return to_coo(result);
  return coo_to_compressed(coalesced(to_coo(result)), target.layout(), block_of(target));
}

void write_parts(const Call& call, TensorImpl& to, const Tensor& result) {
  require_castable(call, result.dtype(), to.dtype);
  Tensor made = in_layout_of(result, handle_of(to));
  if (overwritten(to, parts_of(made))) {
    to.set_geometry(made.sizes(), made.impl()->strides(), 0);
    return;
  }
  if (made.dtype() != to.dtype)
    made = with_values(made, op("to.dtype", parts_of(made).values, to.dtype));
  made = with_own_parts(call, made, Apart::from_all, &to);
  become_sparse(to, *made.impl());
}

// The parts of a sparse result, the elements of a strided one.
void write(const Call& call, TensorImpl& to, const Tensor& result) {
  const bool out = call.op.overload.kind == specs::OverloadKind::out;
  if (&to == result.impl()) return;
  if (out) require_out_dtype(call, result, to.dtype);
  if (is_sparse(result) && to.sparse) return write_parts(call, to, result);
  const Tensor target = handle_of(to);
  if (is_sparse(result) || to.sparse)
    throw Error(ErrorCode::runtime,
                fmt::format("{}: the result has layout {}; expected a tensor of that layout to "
                            "write it to, and found {}",
                            call.op.overload.qualified, layout_name(result.layout()),
                            layout_name(to.layout())));
  if (out) op("resize_", target, result.sizes());
  op("copy_", target, result, false);
}

// The tensors that the call writes, those of lists one by one, and their arguments.
struct Written {
  TensorImpl* tensor;
  uint32_t argument;
};
std::vector<Written> written_by(const Call& call) {
  std::vector<Written> out;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t) {
    if (call.op.args[argument].writes) out.push_back({const_cast<TensorImpl*>(&t), argument});
  });
  return out;
}

}  // namespace

void put_results(Call& call, std::vector<Tensor> results) {
  const std::vector<Written> written = written_by(call);
  for (size_t k = 0; k < results.size(); ++k) {
    if (k < written.size()) {
      write(call, *written[k].tensor, results[k]);
      call.add_result(handle_of(*written[k].tensor),
                      {ResultOrigin::Kind::argument, written[k].argument});
      continue;
    }
    Tensor result = returned(call, results[k], k);
    const ResultOrigin origin = origin_of(call, result);
    call.add_result(std::move(result), origin);
  }
}

}  // namespace primset::runtime
