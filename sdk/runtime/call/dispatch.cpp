#include "sdk/runtime/call/dispatch.h"

#include <fmt/format.h>

#include "sdk/runtime/call/actuals.h"
#include "sdk/runtime/call/aliasing.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/call/call_error.h"
#include "sdk/runtime/call/fallback.h"
#include "sdk/runtime/call/list_call.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/executor.h"
#include "sdk/runtime/graph/capture.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan_builder.h"
#include "sdk/runtime/plan/plan_cache.h"
#include "sdk/runtime/sparse/sparse_call.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/process_end.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {

void require_dtypes(const Call& call) {
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t, uint32_t) {
    if (&t.device() == call.device && !call.device->supports(t.dtype))
      throw Error(ErrorCode::not_implemented,
                  fmt::format("{} has no tensors of dtype {}", call.device->device().to_string(),
                              name(t.dtype)));
  });
}

PlanRef make_plan(const Call& call, const CallKey& key, Slots& slots) {
  require_dtypes(call);
  const auto build = [&] {
    std::unique_ptr<Plan> plan = build_plan(call.op, call.args, *call.device, key);
    plan->drop_sources();
    return plan;
  };
  return call.device->plans().make(key, slots,
                                   {*call.device, std::string(call.op.overload.qualified), build});
}

// In-place view operators (transpose_, squeeze_, as_strided_): self gets the view's geometry.
void become_view(Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (!call.op.args[i].writes || !call.tensor(i)) continue;
    auto* self = const_cast<TensorImpl*>(call.tensor(i));
    const TensorImpl& view = *call.results[0];
    if (&view == self) return;
    self->set_geometry(view.sizes(), view.strides(), view.offset);
    self->dtype = view.dtype;
    self->conj = view.conj;
    self->neg = view.neg;
    self->retain();
    call.results.clear();
    call.results.resize(1);
    call.results.set(0, self);
    call.origins.clear();
    call.origins.push_back({ResultOrigin::Kind::argument, static_cast<uint32_t>(i)});
    return;
  }
}

// The results of a run that found out their sizes go to the out tensors.
void fill_outs(Call& call) {
  for (size_t k = 0; k < call.op.outs.size(); ++k) {
    const uint32_t argument = call.op.outs[k];
    auto& out = const_cast<TensorImpl&>(*call.tensor(argument));
    out.retain();
    const Tensor target(&out), result = call.results.take(k);
    resize_output(out, result.impl()->sizes(), result.impl()->strides());
    const Arg args[] = {target, result, false};
    call_operator("copy_", args);
    call.results.set(k, Tensor(target).release());
    call.origins[k] = {ResultOrigin::Kind::argument, argument};
  }
}

void run_planned(Call& call) {
  if (runs_by_element(call)) return run_by_element(call);
  Slots slots;
  PlanRef plan = plan_of(call, slots);
  require_numbers_fit(call.args, plan->fits);
  run_plan(call, plan, slots);
  note_origins(call, *plan);
  if (plan->outs == Plan::Outs::after) fill_outs(call);
}

bool has_bits(const Call& call, bool written) {
  bool any = false;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t) {
    any |= (t.conj || t.neg) && call.op.args[argument].writes == written;
  });
  return any;
}

// A written tensor with bits: the operator runs on a copy that has the values, which is then copied
// back through the bits.
void run_on_copies(Call& call) {
  struct Pair {
    size_t argument;
    Tensor original;
  };
  std::vector<Pair> pairs;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const TensorImpl* t = call.tensor(i);
    if (!t || !call.op.args[i].writes || !(t->conj || t->neg)) continue;
    const_cast<TensorImpl*>(t)->retain();
    Tensor original(const_cast<TensorImpl*>(t));
    Tensor copy = Tensor::empty(original.sizes(), original.dtype(), original.device());
    const Arg args[] = {copy, original, false};
    call_operator("copy_", args);
    pairs.push_back({i, original});
    call.replace_argument(i, copy);
  }
  run_planned(call);
  for (Pair& p : pairs) {
    const Arg args[] = {p.original, call.args[p.argument], false};
    call_operator("copy_", args);
    for (size_t k = 0; k < call.results.size(); ++k) {
      if (call.results[k] != call.tensor(p.argument)) continue;
      call.results[k]->release();
      call.results.set(k, Tensor(p.original).release());
    }
  }
}

}  // namespace

void note_origins(Call& call, const Plan& plan) {
  for (const OutputPlan& o : plan.outputs) {
    if (o.out_argument >= 0)
      call.origins.push_back({ResultOrigin::Kind::argument, static_cast<uint32_t>(o.out_argument)});
    else if (o.kind == decomps::TracedOutput::Kind::argument)
      call.origins.push_back({ResultOrigin::Kind::argument, o.argument});
    else if (o.kind == decomps::TracedOutput::Kind::view)
      call.origins.push_back({ResultOrigin::Kind::view, o.argument});
    else
      call.origins.push_back({});
  }
}

PlanRef plan_of(Call& call, Slots& slots) {
  // Once more only after out tensors got their sizes.
  for (int attempt = 0; attempt < 3; ++attempt) {
    CallKey key;
    make_key(call.op, call.args, *call.device, key);
    PlanRef plan = call.device->plans().find(key, slots);
    if (!plan) [[unlikely]]
      plan = make_plan(call, key, slots);
    if (plan->outs != Plan::Outs::resize) return plan;
    Code::run(std::span(plan->code.insts).subspan(plan->guard_insts), slots.data());
    resize_outs(call, *plan, slots.data());
  }
  throw Error(ErrorCode::internal,
              fmt::format("{}: out= tensors do not keep the sizes they are given",
                          call.op.overload.qualified));
}

void run_plan(Call& call, PlanRef& plan, Slots& slots) {
  try {
    return execute(*plan, {call.args, call.device, slots.data()}, call.results);
  } catch (const NativeRefused&) {
    call.results.clear();
  }
  const WithoutNatives scope;
  plan = plan_of(call, slots);
  execute(*plan, {call.args, call.device, slots.data()}, call.results);
}

DeviceState& device_of(const Call& call) {
  const TensorImpl* first = nullptr;
  const TensorImpl* cpu_scalar = nullptr;
  const TensorImpl* other = nullptr;
  uint32_t first_argument = 0, other_argument = 0;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t) {
    if (t.wrapped_number) return;
    const bool scalar =
        t.rank == 0 && t.device().device().is_cpu() && !call.op.args[argument].writes;
    if (scalar) {
      cpu_scalar = &t;
    } else if (!first) {
      first = &t;
      first_argument = argument;
    } else if (&first->device() != &t.device() && !other) {
      // Index lists may be on the CPU: they are brought over.
      if (call.op.args[argument].kind == specs::ArgKind::optional_tensor_list &&
          t.device().device().is_cpu())
        return;
      other = &t;
      other_argument = argument;
    }
  });
  if (other)
    throw Error(
        ErrorCode::runtime,
        fmt::format("Expected all tensors to be on the same device, but found at least two "
                    "devices, {0} and {1}! '{2}' is on {0}, '{3}' on {1}; bring one over with to()",
                    first->device().device().to_string(), other->device().device().to_string(),
                    call.op.args[first_argument].spec->name,
                    call.op.args[other_argument].spec->name));
  if (first) return first->device();
  if (cpu_scalar) return cpu_scalar->device();
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].kind == Arg::Kind::device) return device_state(call.args[i].device);
  }
  return device_state(current_device());
}

namespace {

// CPU index tensors of an operator on another device move there.
void bring_index_lists(Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Arg& a = call.args[i];
    if (a.kind != Arg::Kind::tensor_list ||
        call.op.args[i].kind != specs::ArgKind::optional_tensor_list)
      continue;
    const Tensor* list = static_cast<const Tensor*>(a.pointer);
    std::vector<Tensor> moved(list, list + a.count);
    bool any = false;
    for (Tensor& t : moved) {
      if (!t.defined() || &t.impl()->device() == call.device) continue;
      t = t.to(call.device->device());
      any = true;
    }
    if (any) call.replace_list(i, std::move(moved));
  }
}

}  // namespace

void dispatch_planned(Call& call) {
  call.device = &device_of(call);
  if (!call.device->device().is_cpu()) bring_index_lists(call);
  if (!call.op.is_view) {
    if (has_bits(call, false)) resolve_bits(call);
    if (call.op.writes) {
      check_aliasing(call);
      if (has_bits(call, true)) return run_on_copies(call);
    }
  }
  try {
    run_planned(call);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::not_implemented || !may_fall_back(call)) throw;
    fall_back(call, e);
  }
  if (call.op.is_view && call.op.writes) become_view(call);
}

namespace {

void dispatch_unexplained(Call& call) {
  const CallScope scope;
  if (call.op.only_sparse || is_sparse_call(call)) [[unlikely]]
    return run_sparse(call);
  if (Capture* capture = Capture::active()) [[unlikely]]
    return capture->record(call);
  count(Counter::calls);
  if (call.op.overload.status != specs::Status::implemented && !call.op.intrinsic)
    throw Error(ErrorCode::not_implemented,
                fmt::format("declared but not implemented{}{}",
                            call.op.overload.status_reason.empty() ? "" : ": ",
                            call.op.overload.status_reason));
  if (call.op.intrinsic) return call.op.intrinsic(call);
  dispatch_planned(call);
}

}  // namespace

void dispatch(Call& call) {
  explaining(call, [&] { dispatch_unexplained(call); });
}

void dispatch_inner(Call& call) {
  dispatch_unexplained(call);
}

Tensor call_operator(std::string_view qualified, std::span<const Arg> args) {
  Call call(OperatorRegistry::instance().at(qualified));
  bind_unboxed(call, args);
  dispatch_inner(call);
  return call.results.take(0);
}

}  // namespace primset::runtime
