#include "sdk/runtime/execute/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ranges>

#include "codegen/kernel/transform/trip_count.h"
#include "sdk/runtime/device/stream_order.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/statistics.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::runtime {

using schedule::Buffer;

namespace {

TensorImpl* share(const TensorImpl& t) {
  const_cast<TensorImpl&>(t).retain();
  return const_cast<TensorImpl*>(&t);
}

Bound bound_of(const TensorImpl& t, uint64_t bytes) {
  const StorageImpl& s = *t.storage;
  const uint64_t offset = t.byte_offset();
  if (bytes != 0 && (offset > s.bytes || bytes > s.bytes - offset)) {
    // A size that is an argument may be 0 without the plan's knowing: nothing is touched then.
    if (t.numel() == 0) return {s.block.buffer, s.block.offset, 0, t.host()};
    throw Error(ErrorCode::internal, fmt::format("a plan wants {} bytes at {} of a storage of {}",
                                                 bytes, offset, s.bytes));
  }
  return {s.block.buffer, s.block.offset + offset, bytes, t.host()};
}

}  // namespace

// The last one first: so the next run of the plan is given the same blocks (recordings.h).
void Runner::release_blocks() {
  const auto release = [&](const Block& b) { device_.allocator().release(b, stream_->pool()); };
  std::ranges::for_each(std::views::reverse(dynamic_blocks_), release);
  std::ranges::for_each(std::views::reverse(blocks_), release);
}

void Runner::run() {
  prepare();
  if (!plan_.computes) return;
  StreamLock lock(*stream_);
  begin(lock);
  if (!plan_.repeatable || !run_again()) run_steps(plan_.steps);
  finish_dynamic_results();
  if (!plan_.checks) return;
  if (device_.runs_inline())
    stream_->report_errors();
  else if (errors_eager())
    stream_->synchronize_locked();
}

void Runner::prepare() {
  const Code& code = plan_.code;
  Code::run(std::span(code.insts).subspan(plan_.guard_insts), slots_);
  make_results();
  if (!plan_.computes) return;
  stream_ = &device_.current_stream();
  bind_buffers();
  if (plan_.has_natives) find_natives();
  if (!plan_.scalars.empty()) load_scalars();
  if (plan_.checks) stream_->make_error_slots();
}

void Runner::begin(StreamLock& lock) {
  lock_ = &lock;
  if (!device_.runs_inline()) order();
  if (!device_.has_kernels()) fill_scalar_tensors();
  bind_errors();
}

bool Runner::gather(const LaunchPlan& l, LaunchData& d) {
  for (size_t i = 0; i < 3; ++i) {
    const int64_t n = slots_[l.groups[i]];
    if (n <= 0) return false;
    if (n > UINT32_MAX) [[unlikely]]
      throw Error(ErrorCode::not_implemented,
                  fmt::format("a kernel of {} groups; a launch has {} at most", n, UINT32_MAX));
    d.groups[i] = static_cast<uint32_t>(n);
  }
  for (const LaunchPlan::Binding& b : l.bindings) {
    const Bound& m = memory(b.buffer);
    d.memory.push_back(m);
    d.bindings.push_back({m.buffer, m.offset, m.bytes, b.access, 0});
  }
  d.scalars.resize((l.kernel->scalar_bytes + 7) / 8, 0);
  auto* block = reinterpret_cast<std::byte*>(d.scalars.data());
  for (const ScalarPlan& p : l.scalars) write_scalar(p, block + p.offset);
  return true;
}

bool Runner::has_long_loops(const LaunchPlan& l, const LaunchData& d, uint32_t spare) const {
  const uint32_t limit = device_.target().loop_limit;
  if (limit == 0) [[likely]]
    return false;
  const auto scalars = std::as_bytes(std::span(d.scalars.data(), d.scalars.size()));
  return kir::max_iterations(l.kernel->source, d.groups, scalars) > limit - std::min(limit, spare);
}

// --- results -------------------------------------------------------------------------------------

void Runner::make_results() {
  results_.resize(plan_.outputs.size());
  for (size_t k = 0; k < plan_.outputs.size(); ++k) {
    const OutputPlan& o = plan_.outputs[k];
    if (o.out_argument >= 0) {
      results_.set(k, share(tensor_argument(in_.args, static_cast<uint32_t>(o.out_argument),
                                            o.out_element)));
    } else if (o.kind == decomps::TracedOutput::Kind::argument) {
      results_.set(k, share(tensor_argument(in_.args, o.argument, o.element)));
    } else if (o.kind == decomps::TracedOutput::Kind::view) {
      results_.set(k, view(o));
    } else if (!o.dynamic) {
      results_.set(k, fresh(o));
    }
  }
}

void Runner::dims(const OutputPlan& o, Dims& sizes, Dims& strides) const {
  const Slot* at = plan_.dim_slots.data() + o.dims;
  for (uint32_t d = 0; d < o.rank; ++d) sizes.push_back(slots_[at[d]]);
  for (uint32_t d = 0; d < o.rank; ++d) strides.push_back(slots_[at[o.rank + d]]);
}

TensorImpl* Runner::fresh(const OutputPlan& o) {
  Dims sizes, strides;
  dims(o, sizes, strides);
  const uint64_t bytes = bytes_to_end(sizes, strides, 0, o.dtype);
  return new_tensor(new_storage(device_, bytes), o.dtype, sizes, strides, 0);
}

TensorImpl* Runner::view(const OutputPlan& o) {
  const TensorImpl& base = tensor_argument(in_.args, o.argument, o.element);
  Dims sizes, strides;
  dims(o, sizes, strides);
  // The offset is in elements of the view's dtype, relative to the base's first element.
  int64_t start = base.offset;
  if (!o.same_dtype)
    start = start * static_cast<int64_t>(byte_size(base.dtype)) /
            static_cast<int64_t>(byte_size(o.dtype));
  const int64_t offset = start + slots_[o.offset];
  check_extent(sizes, strides, offset, o.dtype, base.storage->bytes);
  TensorImpl* t = new_view(base, sizes, strides, offset);
  t->dtype = o.dtype;
  t->conj = is_complex(o.dtype) && (base.conj != o.conj);
  t->neg = base.neg != o.neg;
  return t;
}

void Runner::finish_dynamic_results() {
  for (size_t k = 0; k < plan_.outputs.size(); ++k) {
    if (!results_[k]) make_dynamic_result(k);
  }
}

void Runner::make_dynamic_result(size_t k) {
  lock_->unlock();  // the allocator may have to wait for the stream
  results_.set(k, fresh(plan_.outputs[k]));
  lock_->lock();
}

// --- memory --------------------------------------------------------------------------------------

uint64_t Runner::bytes_of(const BufferPlan& b) const {
  const int64_t n = slots_[b.elements];
  int64_t bytes = 0;
  if (n <= 0) return 0;
  if (__builtin_mul_overflow(n, int64_t{b.element_bytes}, &bytes)) [[unlikely]]
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} elements of {} bytes do not fit any memory", n, b.element_bytes));
  return static_cast<uint64_t>(bytes);
}

void Runner::bind_buffers() {
  bound_.resize(plan_.buffers.size());
  blocks_.resize(plan_.blocks);
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const BufferPlan& b = plan_.buffers[i];
    switch (b.kind) {
      case Buffer::Kind::input:
        if (b.scalar >= 0) {
          bound_[i] = scratch_buffer(bytes_of(b));
        } else if (!b.dynamic) {
          bound_[i] = bound_of(tensor_argument(in_.args, b.argument, b.element), bytes_of(b));
        }
        break;
      case Buffer::Kind::output:
        if (results_[b.argument] && !b.dynamic)
          bound_[i] = bound_of(*results_[b.argument], bytes_of(b));
        break;
      case Buffer::Kind::temp:
        if (!b.dynamic && b.block != kNoBlock) bound_[i] = temporary(b);
        break;
      case Buffer::Kind::table:
        bound_[i] = bound_of(*plan_.tables[b.argument].impl(), bytes_of(b));
        break;
      case Buffer::Kind::errors:
        break;
    }
  }
}

Bound Runner::temporary(const BufferPlan& b) {
  Block& block = blocks_[b.block];
  const uint64_t bytes = bytes_of(b);
  if (!block.buffer) block = device_.allocator().allocate(bytes, stream_->pool());
  return {block.buffer, block.offset, bytes, block.host};
}

Bound Runner::scratch_buffer(uint64_t bytes) {
  dynamic_blocks_.push_back(device_.allocator().allocate(bytes, stream_->pool()));
  const Block& block = dynamic_blocks_.back();
  return {block.buffer, block.offset, bytes, block.host};
}

void Runner::fill_scalar_tensors() {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const int32_t s = plan_.buffers[i].scalar;
    if (s < 0) continue;
    std::byte value[16] = {};
    store_scalar(plan_.scalars[static_cast<size_t>(s)].dtype, scalars_[static_cast<size_t>(s)],
                 value);
    stream_->handle().copy_in(bound_[i].buffer, bound_[i].offset, value, bound_[i].bytes);
    restart_hazards();
  }
}

void Runner::bind_errors() {
  if (!plan_.checks) return;
  const StreamState::SlotBinding slot = stream_->error_slot(plan_.checks);
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].kind == Buffer::Kind::errors)
      bound_[i] = {slot.buffer, slot.offset, sizeof(schedule::ErrorSlot), nullptr};
  }
}

const Bound& Runner::memory(uint32_t buffer) {
  const BufferPlan& b = plan_.buffers[buffer];
  Bound& bound = bound_[buffer];
  if (!b.dynamic && !(b.kind == Buffer::Kind::output && !bound.buffer)) [[likely]]
    return bound;
  const uint64_t bytes = bytes_of(b);
  if (b.kind == Buffer::Kind::input) {
    bound = bound_of(tensor_argument(in_.args, b.argument, b.element), bytes);
  } else if (b.kind == Buffer::Kind::output) {
    if (!results_[b.argument]) make_dynamic_result(b.argument);
    bound = bound_of(*results_[b.argument], bytes);
  } else if (bytes > bound.bytes) {
    lock_->unlock();
    dynamic_blocks_.push_back(device_.allocator().allocate(bytes, stream_->pool()));
    lock_->lock();
    const Block& block = dynamic_blocks_.back();
    bound = {block.buffer, block.offset, bytes, block.host};
  }
  return bound;
}

// Of the arguments, the results and the tables.
template <typename F>
void Runner::for_each_storage(F f) const {
  for (const BufferPlan& b : plan_.buffers) {
    if (b.kind == Buffer::Kind::input && b.scalar < 0)
      f(*tensor_argument(in_.args, b.argument, b.element).storage);
    if (b.kind == Buffer::Kind::output && results_[b.argument]) f(*results_[b.argument]->storage);
    if (b.kind == Buffer::Kind::table) f(*plan_.tables[b.argument].impl()->storage);
  }
}

void Runner::order() {
  bool elsewhere = false;
  for_each_storage([&](const StorageImpl& s) {
    exact_ &= !s.foreign;
    elsewhere |= s.stream.load(std::memory_order_relaxed) != stream_;
  });
  if (!elsewhere) [[likely]]
    return;
  SmallVector<StorageImpl*, 16> storages;
  for_each_storage([&](StorageImpl& s) { storages.push_back(&s); });
  order_after_last_use(*lock_, *stream_, storages);
}

// --- steps ---------------------------------------------------------------------------------------

void Runner::run_steps(const std::vector<StepPlan>& steps) {
  for (const StepPlan& s : steps) {
    if (const auto* launch = std::get_if<LaunchPlan>(&s.step))
      step(*launch);
    else
      std::visit([&](const auto& one) { step(one); }, s.step);
  }
}

void Runner::step(const LaunchPlan& l) {
  LaunchData d;
  if (!gather(l, d)) return;
  const LoadedKernel& kernel =
      has_long_loops(l, d, 0) ? device_.kernels().unrolled_of(*l.kernel) : *l.kernel;
  primset_launch launch{};
  launch.struct_size = sizeof(launch);
  launch.kernel = kernel.module.kernel();
  std::copy_n(d.groups, 3, launch.groups);
  launch.binding_count = static_cast<uint32_t>(d.bindings.size());
  launch.bindings = d.bindings.data();
  launch.scalars = d.scalars.data();
  launch.scalar_bytes = l.kernel->scalar_bytes;
  launch.flags = stream_->launch_flags(d.bindings, exact_);
  stream_->handle().launch(launch);
  count(Counter::launches);
}

void Runner::step(const CopyPlan& c) {
  const Bound from = memory(c.source), to = memory(c.target);
  const int64_t n = slots_[c.elements];
  const uint64_t bytes =
      n <= 0 ? 0 : static_cast<uint64_t>(n) * plan_.buffers[c.source].element_bytes;
  if (bytes == 0 || (from.buffer == to.buffer && from.offset == to.offset)) return;
  stream_->handle().copy(to.buffer, to.offset, from.buffer, from.offset, bytes);
  restart_hazards();
  count(Counter::copies);
}

// Copies and native primitives wait for earlier work; what they touch is not listed.
void Runner::restart_hazards() {
  if (!device_.runs_inline()) stream_->hazards().restart({}, false);
}

std::vector<int64_t> Runner::values(const std::vector<Slot>& list) const {
  std::vector<int64_t> out;
  for (Slot s : list) out.push_back(slots_[s]);
  return out;
}

template <typename T>
T Runner::read(uint32_t buffer) {
  const Bound& m = memory(buffer);
  T value{};
  if (device_.runs_inline() && m.host) {
    std::memcpy(&value, m.host, sizeof(T));
  } else {
    stream_->handle().copy_out(m.buffer, m.offset, &value, sizeof(T));
    stream_->hazards().clear();
  }
  count(Counter::host_reads);
  return value;
}

void Runner::set_dynamic(uint32_t number, int64_t value) {
  slots_[plan_.code.dynamic_slots[number]] = value;
  Code::run(plan_.code.dynamic[number], slots_);
}

void Runner::step(const ReadCountPlan& r) {
  set_dynamic(r.dynamic, r.narrow ? read<int32_t>(r.buffer) : read<int64_t>(r.buffer));
}

void Runner::step(const LoopPlan& l) {
  for (int64_t i = 0, n = slots_[l.count]; i < n; ++i) {
    set_dynamic(l.dynamic, i);
    run_steps(l.body);
  }
}

void Runner::step(const WhilePlan& w) {
  for (;;) {
    run_steps(w.test);
    if (!read<uint8_t>(w.condition)) return;
    run_steps(w.body);
  }
}

void Runner::step(const BranchPlan& b) {
  run_steps(read<uint8_t>(b.condition) ? b.then_steps : b.else_steps);
}

// --- what others call ----------------------------------------------------------------------------

const TensorImpl& tensor_argument(std::span<const Arg> args, uint32_t argument, uint32_t element) {
  const Arg& a = args[argument];
  if (a.kind == Arg::Kind::tensor) return *static_cast<const TensorImpl*>(a.pointer);
  if (a.kind == Arg::Kind::tensor_list && element < a.count)
    return *static_cast<const Tensor*>(a.pointer)[element].impl();
  // A number may stand for a tensor whose values are read (bind.cpp).
  throw Error(ErrorCode::type,
              fmt::format("argument {} is a number; expected a tensor, since a result is the "
                          "argument itself or shares its memory",
                          argument));
}

void execute(const Plan& plan, const RunInputs& inputs, Results& results) {
  Runner(plan, inputs, results).run();
}

}  // namespace primset::runtime
