#include "sdk/runtime/call/aliasing.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/tensor/host_copy.h"

namespace primset::runtime {
namespace {

constexpr const char* kSelfOverlap =
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory "
    "location. Please clone() the tensor before performing the operation.";
constexpr const char* kSharedMemory =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
    "single memory location. Please clone() the tensor before performing the operation.";

// Memory that the two may share, from what the ranges and strides say.
bool ranges_meet(const TensorImpl& a, const TensorImpl& b) {
  auto end = [](const TensorImpl& t) {
    return t.byte_offset() + bytes_to_end(t.sizes(), t.strides(), 0, t.dtype);
  };
  return a.byte_offset() < end(b) && b.byte_offset() < end(a);
}

Tensor clone_of(const TensorImpl& t) {
  const_cast<TensorImpl&>(t).retain();
  const Tensor source(const_cast<TensorImpl*>(&t));
  const Arg args[] = {source, std::nullopt};
  return call_operator("clone", args);
}

// Replaces element `element` of argument `argument`.
void replace(Call& call, uint32_t argument, uint32_t element, Tensor by) {
  const Arg& a = call.args[argument];
  if (a.kind == Arg::Kind::tensor) return call.replace_argument(argument, std::move(by));
  const Tensor* list = static_cast<const Tensor*>(a.pointer);
  const bool ours = !call.owned_lists.empty() && call.owned_lists.front().data() == list;
  if (!ours) call.replace_list(argument, std::vector<Tensor>(list, list + a.count));
  auto& copy =
      const_cast<Tensor&>(static_cast<const Tensor*>(call.args[argument].pointer)[element]);
  copy = std::move(by);
}

bool may_share(const Call& call, uint32_t argument, Overlap o) {
  switch (call.op.shared) {
    case specs::SharedMemory::any:
      return true;
    case specs::SharedMemory::whole:
      return o != Overlap::partial;
    case specs::SharedMemory::self:
      return o != Overlap::partial && call.op.args[argument].spec->name == "self";
    case specs::SharedMemory::refused:
      return false;
  }
  return false;
}

void check_input(Call& call, const TensorImpl& written, const TensorImpl& input, uint32_t argument,
                 uint32_t element) {
  if (written.storage != input.storage || !ranges_meet(written, input)) return;
  const bool same = same_view(written, input);
  const Overlap o = same ? Overlap::full : overlap(written, input);
  if (o == Overlap::none) return;
  if (!may_share(call, argument, o)) throw Error(ErrorCode::runtime, kSharedMemory);
  if (same) return;
  replace(call, argument, element, clone_of(input));
}

// A tensor of the call, as an argument or in a list.
struct Use {
  const TensorImpl* tensor;
  uint32_t argument, element;
};
using Uses = SmallVector<Use, 8>;

const StorageImpl* storage_of(const Use& u) {
  return u.tensor->storage;
}

// Elements of lists are all written from what was there before the call: of two results in one
// memory only one would be left.
void refuse_written_twice(const Call& call, Uses written) {
  std::ranges::sort(written, std::less<>(), storage_of);
  auto is_listed = [&](const Use& u) {
    return call.op.args[u.argument].kind == specs::ArgKind::tensor_list;
  };
  for (size_t i = 0; i < written.size(); ++i) {
    for (size_t k = i + 1; k < written.size(); ++k) {
      const Use &a = written[i], &b = written[k];
      if (storage_of(a) != storage_of(b)) break;
      if ((!is_listed(a) && !is_listed(b)) || !ranges_meet(*a.tensor, *b.tensor) ||
          overlap(*a.tensor, *b.tensor) == Overlap::none)
        continue;
      throw Error(ErrorCode::runtime,
                  fmt::format("{}: {}[{}] and {}[{}] share memory, and both are written; give each "
                              "tensor once",
                              call.op.overload.qualified, call.op.args[a.argument].spec->name,
                              a.element, call.op.args[b.argument].spec->name, b.element));
    }
  }
}

}  // namespace

void check_aliasing(Call& call) {
  Uses written, inputs;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t element) {
    (call.op.args[argument].writes ? written : inputs).push_back({&t, argument, element});
  });
  for (const Use& w : written) {
    if (internal_overlap(*w.tensor) == Overlap::full) throw Error(ErrorCode::runtime, kSelfOverlap);
  }
  if (!call.op.by_element) refuse_written_twice(call, written);
  // Lists may be long: what shares a storage is looked for, not what does not. The inputs are
  // fixed first: cloning one may not disturb the walk over the others.
  std::ranges::sort(inputs, std::less<>(), storage_of);
  for (const Use& w : written) {
    for (const Use& in :
         std::ranges::equal_range(inputs, w.tensor->storage, std::less<>(), storage_of))
      check_input(call, *w.tensor, *in.tensor, in.argument, in.element);
  }
}

void resolve_bits(Call& call) {
  struct Found {
    const TensorImpl* tensor;
    uint32_t argument, element;
  };
  SmallVector<Found, 4> found;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t element) {
    if ((t.conj || t.neg) && !call.op.args[argument].writes)
      found.push_back({&t, argument, element});
  });
  for (const Found& f : found) {
    // The same memory without the bits, then the operators that the bits stand for.
    TensorImpl* plain =
        new_view(*f.tensor, f.tensor->sizes(), f.tensor->strides(), f.tensor->offset);
    plain->conj = plain->neg = false;
    Tensor t(plain);
    if (f.tensor->conj) {
      const Arg args[] = {t};
      t = call_operator("_conj_physical", args);
    }
    if (f.tensor->neg) {
      const Arg args[] = {t};
      t = call_operator("neg", args);
    }
    replace(call, f.argument, f.element, std::move(t));
  }
}

void resize_output(TensorImpl& out, std::span<const int64_t> sizes,
                   std::span<const int64_t> strides) {
  if (std::ranges::equal(out.sizes(), sizes)) return;
  if (out.numel() != 0)
    log(LogLevel::warning,
        "An output with one or more elements was resized since it had shape {}, which does not "
        "match the required output shape {}. This behavior is deprecated, and in a future release "
        "outputs will not be resized unless they have zero elements. You can explicitly reuse an "
        "out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
        list_text(out.sizes()), list_text(sizes));
  grow_storage(*out.storage, bytes_to_end(sizes, strides, out.offset, out.dtype));
  out.set_geometry(sizes, strides, out.offset);
}

void resize_outs(Call& call, const Plan& plan, const int64_t* slots) {
  for (const OutputPlan& o : plan.outputs) {
    if (o.out_argument < 0) continue;
    SmallVector<int64_t, kInlineRank> sizes, strides;
    const Slot* at = plan.dim_slots.data() + o.dims;
    for (uint32_t d = 0; d < o.rank; ++d) sizes.push_back(slots[at[d]]);
    for (uint32_t d = 0; d < o.rank; ++d) strides.push_back(slots[at[o.rank + d]]);
    const TensorImpl& out =
        tensor_argument(call.args, static_cast<uint32_t>(o.out_argument), o.out_element);
    resize_output(const_cast<TensorImpl&>(out), sizes, strides);
  }
}

}  // namespace primset::runtime
