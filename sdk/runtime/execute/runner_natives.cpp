// What a run leaves to the plugin itself (native_primitive.h).
#include <fmt/format.h>

#include <algorithm>

#include "sdk/runtime/execute/runner.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/process_end.h"
#include "sdk/runtime/support/statistics.h"
#include "sdk/runtime/tensor/host_copy.h"

namespace primset::runtime {

void Runner::find_natives() {
  for (const StepPlan& s : plan_.steps) {
    if (std::holds_alternative<ReadCountPlan>(s.step)) return;
    const auto* n = std::get_if<NativePlan>(&s.step);
    if (!n) continue;
    FoundNative& found = natives_.emplace_back(FoundNative{n, native_call(*n, false), {}});
    if (found.call.find(device_.plugin(), n->name, &found.primitive)) continue;
    if (device_.has_kernels()) throw NativeRefused{};
    refused(*n);
  }
}

// They are found in the order of the steps.
Runner::FoundNative* Runner::found_native(const NativePlan& n) {
  return n.number < natives_.size() ? &natives_[n.number] : nullptr;
}

[[noreturn]] void Runner::refused(const NativePlan& n) const {
  throw Error(ErrorCode::not_implemented,
              fmt::format("{} runs '{}' natively, but not with these sizes",
                          device_.device().to_string(), n.name));
}

void Runner::step(const NativePlan& n) {
  if (FoundNative* known = found_native(n)) return run_native(*known);
  FoundNative found{&n, native_call(n, false), {}};
  if (!found.call.find(device_.plugin(), n.name, &found.primitive)) refused(n);
  run_native(found);
}

void Runner::run_native(FoundNative& found) {
  const NativePlan& n = *found.plan;
  const bool strided = found.primitive.flags & PRIMSET_PRIMITIVE_STRIDED;
  const bool make_dense = !strided && !all_dense(n);
  if (make_dense || has_error_slot(n)) found.call = native_call(n, make_dense);
  enqueue_native(found);
  // Plugins load their libraries when they need them: those' exit handlers run before older ones.
  [[maybe_unused]] static const bool loaded = (expect_exit(!device_.runs_inline()), true);
  restart_hazards();
  count(Counter::native_calls);
}

// The slot is the run's, which was not yet known when the primitive was looked for.
bool Runner::has_error_slot(const NativePlan& n) const {
  return std::ranges::any_of(n.results, [&](const NativePlan::Operand& o) {
    return plan_.buffers[o.buffer].kind == schedule::Buffer::Kind::errors;
  });
}

// A library's workspace is not the allocator's: what that holds unused may be what the library
// lacks.
void Runner::enqueue_native(FoundNative& found) {
  const auto enqueue = [&] {
    stream_->handle().run(found.primitive, found.call.call(), found.plan->name);
  };
  try {
    return enqueue();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory || is_recording_) throw;
    log(LogLevel::info, "{}; freeing the cache", e.what());
  }
  lock_->unlock();
  device_.allocator().empty_cache();
  lock_->lock();
  enqueue();
}

bool Runner::all_dense(const NativePlan& n) const {
  return std::ranges::all_of(n.operands, [&](const NativePlan::Operand& o) {
    return is_contiguous(values(o.sizes), values(o.strides));
  });
}

NativeCall Runner::native_call(const NativePlan& n, bool make_dense) {
  NativeCall call;
  auto add = [&](const NativePlan::Operand& o, auto method) {
    const Bound& m = memory(o.buffer);
    (call.*method)(o.dtype, values(o.sizes), values(o.strides), m.buffer,
                   m.offset + static_cast<uint64_t>(slots_[o.offset]) * byte_size(o.dtype));
  };
  for (const auto& o : n.operands) {
    if (make_dense && !is_contiguous(values(o.sizes), values(o.strides)))
      add_dense(o, call);
    else
      add(o, &NativeCall::add_operand);
  }
  for (const auto& o : n.results) add(o, &NativeCall::add_result);
  for (const auto& a : n.attributes) {
    if (a.kind == PRIMSET_ATTR_STRING)
      call.add_text(a.name, a.text);
    else if (a.kind == PRIMSET_ATTR_FLOAT)
      call.add_float(a.name, a.floating);
    else
      call.add_ints(a.name, values(a.integers), a.kind == PRIMSET_ATTR_INTS);
  }
  return call;
}

// The elements in row-major order: on the host, since the device may have no other way.
std::vector<std::byte> Runner::read_packed(const StridedPlan& o) {
  const std::vector<int64_t> sizes = values(o.sizes), strides = values(o.strides);
  const size_t width = byte_size(o.dtype);
  const Bound m = memory(o.buffer);
  std::vector<std::byte> from(bytes_to_end(sizes, strides, 0, o.dtype));
  std::vector<std::byte> packed(packed_bytes(sizes, o.dtype));
  stream_->handle().copy_out(m.buffer, m.offset + static_cast<uint64_t>(slots_[o.offset]) * width,
                             from.data(), from.size());
  pack(from.data(), sizes, strides, width, packed.data());
  return packed;
}

// What lies between the elements stays as it is.
void Runner::write_packed(const StridedPlan& o, std::span<const std::byte> packed) {
  const std::vector<int64_t> sizes = values(o.sizes), strides = values(o.strides);
  const size_t width = byte_size(o.dtype);
  const Bound m = memory(o.buffer);
  const uint64_t offset = m.offset + static_cast<uint64_t>(slots_[o.offset]) * width;
  std::vector<std::byte> to(bytes_to_end(sizes, strides, 0, o.dtype));
  stream_->handle().copy_out(m.buffer, offset, to.data(), to.size());
  unpack(packed.data(), sizes, strides, width, to.data());
  stream_->handle().copy_in(m.buffer, offset, to.data(), to.size());
}

// A contiguous copy of an operand.
void Runner::add_dense(const StridedPlan& o, NativeCall& call) {
  const std::vector<int64_t> sizes = values(o.sizes);
  const std::vector<std::byte> packed = read_packed(o);
  lock_->unlock();
  const Bound dense = scratch_buffer(packed.size());
  lock_->lock();
  stream_->handle().copy_in(dense.buffer, dense.offset, packed.data(), packed.size());
  std::vector<int64_t> packed_strides(sizes.size());
  contiguous_strides(sizes, packed_strides);
  call.add_operand(o.dtype, sizes, std::move(packed_strides), dense.buffer, dense.offset);
  count(Counter::copies);
}

void Runner::step(const StridedCopyPlan& c) {
  const std::vector<int64_t> sizes = values(c.target.sizes);
  const uint64_t bytes = packed_bytes(sizes, c.target.dtype);
  if (bytes == 0) return;
  const auto dense = [&](const StridedPlan& o) { return is_contiguous(sizes, values(o.strides)); };
  if (dense(c.source) && dense(c.target)) {
    const auto offset = [&](const StridedPlan& o) {
      return memory(o.buffer).offset + static_cast<uint64_t>(slots_[o.offset]) * byte_size(o.dtype);
    };
    const Bound from = memory(c.source.buffer), to = memory(c.target.buffer);
    if (from.buffer == to.buffer && offset(c.source) == offset(c.target)) return;
    stream_->handle().copy(to.buffer, offset(c.target), from.buffer, offset(c.source), bytes);
  } else {
    write_packed(c.target, read_packed(c.source));
  }
  restart_hazards();
  count(Counter::copies);
}

}  // namespace primset::runtime
