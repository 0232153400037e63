#include "sdk/runtime/call/fallback.h"

#include <mutex>
#include <set>

#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/statistics.h"
#include "sdk/runtime/tensor/host_copy.h"

namespace primset::runtime {
namespace {

void warn_once(const Call& call, const Error& why) {
  if (options().fallback != Fallback::warn) return;
  static std::mutex mutex;
  static auto* warned = new std::set<std::pair<const OperatorInfo*, const DeviceState*>>;
  {
    std::lock_guard lock(mutex);
    if (!warned->emplace(&call.op, call.device).second) return;
  }
  log(LogLevel::warning, "{} does not run on {} and runs on the CPU instead: {}",
      call.op.overload.qualified, call.device->device().to_string(), why.what());
}

// The tensor on the CPU, with the same order of dims.
Tensor on_cpu(const TensorImpl& t) {
  return handle_of(t).to(Device::cpu());
}

void copy_back(const TensorImpl& to, const Tensor& from) {
  std::vector<std::byte> packed(packed_bytes(from.sizes(), from.dtype()));
  read_tensor(*from.impl(), packed.data());
  write_tensor(to, packed.data());
}

void move_arguments(const Call& from, Call& to) {
  for (size_t i = 0; i < from.args.size(); ++i) {
    const Arg& a = from.args[i];
    to.args.push_back(a);
    if (const TensorImpl* t = from.tensor(i)) to.replace_argument(i, on_cpu(*t));
    if (a.kind == Arg::Kind::device) to.args[i] = Arg(Device::cpu());
    if (a.kind != Arg::Kind::tensor_list) continue;
    std::vector<Tensor> list;
    for (uint32_t e = 0; e < a.count; ++e) {
      const Tensor& t = static_cast<const Tensor*>(a.pointer)[e];
      list.push_back(t.defined() ? t.to(Device::cpu()) : Tensor());
    }
    to.replace_list(i, std::move(list));
  }
}

void copy_written(const Call& from, Call& to) {
  for_each_tensor(to.args, [&](const TensorImpl& t, uint32_t argument, uint32_t element) {
    if (!to.op.args[argument].writes) return;
    auto& target = const_cast<TensorImpl&>(t);
    const TensorImpl& result = tensor_argument(from.args, argument, element);
    if (!std::ranges::equal(target.sizes(), result.sizes())) {
      grow_storage(*target.storage,
                   bytes_to_end(result.sizes(), result.strides(), target.offset, target.dtype));
      target.set_geometry(result.sizes(), result.strides(), target.offset);
    }
    copy_back(target, handle_of(result));
  });
}

}  // namespace

bool may_fall_back(const Call& call) {
  return !call.device->device().is_cpu() && !call.device->is_meta() && !call.op.is_view &&
         options().fallback != Fallback::error;
}

void fall_back(Call& call, const Error& why) {
  warn_once(call, why);
  count_fallback(call.op.overload.qualified);
  Call cpu(call.op);
  move_arguments(call, cpu);
  dispatch(cpu);
  copy_written(cpu, call);
  call.results.clear();
  call.origins.clear();
  for (size_t k = 0; k < cpu.results.size(); ++k) {
    const ResultOrigin origin = cpu.origins[k];
    if (origin.kind == ResultOrigin::Kind::argument && call.tensor(origin.argument)) {
      auto* t = const_cast<TensorImpl*>(call.tensor(origin.argument));
      t->retain();
      call.add_result(Tensor(t), origin);
    } else {
      call.add_result(cpu.results.take(k).to(call.device->device()), {});
    }
  }
  call.value = std::move(cpu.value);
}

}  // namespace primset::runtime
