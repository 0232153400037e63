#include "sdk/runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <ranges>

#include "codegen/kernel/rounds.h"
#include "codegen/kernel/table_form.h"
#include "sdk/runtime/device_state.h"
#include "sdk/runtime/host_copy.h"
#include "sdk/runtime/key.h"
#include "sdk/runtime/native.h"
#include "sdk/runtime/options.h"
#include "sdk/runtime/recordings.h"
#include "sdk/runtime/scalar_memory.h"
#include "sdk/runtime/statistics.h"
#include "sdk/runtime/stream_order.h"

namespace primset::runtime {
namespace {

using schedule::Buffer;

// Where a buffer of the program is.
struct Bound {
  primset_buffer buffer = nullptr;
  uint64_t offset = 0, bytes = 0;
  std::byte* host = nullptr;
};

// Rounds that finding its entry takes a launch in table form.
constexpr uint32_t kTableRounds = 64;

class Runner {
 public:
  Runner(const Plan& plan, const RunInputs& in, Results& results)
      : plan_(plan), in_(in), slots_(in.slots), device_(*in.device), results_(results) {}
  // The last one first: so the next run of the plan is given the same blocks (recordings.h).
  ~Runner() {
    const auto release = [&](const Block& b) { device_.allocator().release(b, stream_->pool()); };
    std::ranges::for_each(std::views::reverse(dynamic_blocks_), release);
    std::ranges::for_each(std::views::reverse(blocks_), release);
  }

  void run() {
    prepare();
    if (!plan_.program) return;
    StreamLock lock(*stream_);
    begin(lock);
    if (!run_again()) run_steps(plan_.steps);
    finish_dynamic_results();
    if (!plan_.checks) return;
    if (device_.runs_inline())
      stream_->report_errors();
    else if (errors_eager())
      stream_->synchronize_locked();
  }

  // What a run does before its steps: results, memory; then, with the stream's lock, the rest.
  void prepare() {
    const Code& code = plan_.code;
    Code::run(std::span(code.insts).subspan(plan_.guard_insts), slots_);
    make_results();
    if (!plan_.program) return;
    stream_ = &device_.current_stream();
    bind_buffers();
    find_natives();
    load_scalars();
    if (plan_.checks) stream_->make_error_slots();
  }
  void begin(StreamLock& lock) {
    lock_ = &lock;
    if (!device_.runs_inline()) order();
    if (!device_.has_kernels()) fill_numbers();
    bind_errors();
  }

  // What a launch is given; false when its grid is empty.
  struct LaunchData {
    uint32_t groups[3];
    SmallVector<Bound, 12> memory;
    SmallVector<primset_binding, 12> bindings;
    SmallVector<uint64_t, 32> scalars;
  };
  bool gather(const LaunchPlan& l, LaunchData& d) {
    for (size_t i = 0; i < 3; ++i) {
      const int64_t n = slots_[l.groups[i]];
      if (n <= 0) return false;
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
  // Would the driver end the launch's loops too early? `spare`: rounds that the launch takes
  // besides.
  bool has_long_loops(const LaunchPlan& l, const LaunchData& d, uint32_t spare) const {
    const uint32_t limit = device_.target().loop_limit;
    if (limit == 0) [[likely]]
      return false;
    const auto scalars = std::as_bytes(std::span(d.scalars.data(), d.scalars.size()));
    return kir::most_rounds(*l.source, d.groups, scalars) > limit - std::min(limit, spare);
  }
  bool exact() const { return exact_; }

 private:
  // --- results -----------------------------------------------------------------------------------

  void make_results() {
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

  static TensorImpl* share(const TensorImpl& t) {
    const_cast<TensorImpl&>(t).retain();
    return const_cast<TensorImpl*>(&t);
  }

  using Dims = SmallVector<int64_t, kInlineRank>;
  void dims(const OutputPlan& o, Dims& sizes, Dims& strides) const {
    const Slot* at = plan_.dim_slots.data() + o.dims;
    for (uint32_t d = 0; d < o.rank; ++d) sizes.push_back(slots_[at[d]]);
    for (uint32_t d = 0; d < o.rank; ++d) strides.push_back(slots_[at[o.rank + d]]);
  }

  TensorImpl* fresh(const OutputPlan& o) {
    Dims sizes, strides;
    dims(o, sizes, strides);
    element_count(sizes);
    const auto bytes = static_cast<uint64_t>(extent(sizes, strides)) * byte_size(o.dtype);
    return new_tensor(new_storage(device_, bytes), o.dtype, sizes, strides, 0);
  }

  TensorImpl* view(const OutputPlan& o) {
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

  void finish_dynamic_results() {
    for (size_t k = 0; k < plan_.outputs.size(); ++k) {
      if (!results_[k]) make_dynamic_result(k);
    }
  }

  void make_dynamic_result(size_t k) {
    lock_->unlock();  // the allocator may have to wait for the stream
    results_.set(k, fresh(plan_.outputs[k]));
    lock_->lock();
  }

  // --- memory ------------------------------------------------------------------------------------

  static Bound bound(const TensorImpl& t, uint64_t bytes) {
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

  uint64_t bytes_of(const BufferPlan& b) const {
    const int64_t n = slots_[b.elements];
    return n <= 0 ? 0 : static_cast<uint64_t>(n) * b.element_bytes;
  }

  void bind_buffers() {
    bound_.resize(plan_.buffers.size());
    blocks_.resize(plan_.blocks);
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const BufferPlan& b = plan_.buffers[i];
      switch (b.kind) {
        case Buffer::Kind::input:
          if (b.scalar >= 0) {
            bound_[i] = number_buffer(bytes_of(b));
          } else if (!b.dynamic) {
            bound_[i] = bound(tensor_argument(in_.args, b.argument, b.element), bytes_of(b));
          }
          break;
        case Buffer::Kind::output:
          if (results_[b.argument] && !b.dynamic)
            bound_[i] = bound(*results_[b.argument], bytes_of(b));
          break;
        case Buffer::Kind::temp:
          if (!b.dynamic && b.block != kNoBlock) bound_[i] = temporary(b);
          break;
        case Buffer::Kind::errors:
          break;
      }
    }
  }

  Bound temporary(const BufferPlan& b) {
    Block& block = blocks_[b.block];
    const uint64_t bytes = bytes_of(b);
    if (!block.buffer) block = device_.allocator().allocate(bytes, stream_->pool());
    return {block.buffer, block.offset, bytes, block.host};
  }

  Bound number_buffer(uint64_t bytes) {
    dynamic_blocks_.push_back(device_.allocator().allocate(bytes, stream_->pool()));
    const Block& block = dynamic_blocks_.back();
    return {block.buffer, block.offset, bytes, block.host};
  }

  // Numbers that are tensors to the device (host_values.h).
  void fill_numbers() {
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

  void bind_errors() {
    if (!plan_.checks) return;
    const StreamState::SlotBinding slot = stream_->error_slot(plan_.checks);
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      if (plan_.buffers[i].kind == Buffer::Kind::errors)
        bound_[i] = {slot.buffer, slot.offset, sizeof(schedule::ErrorSlot), nullptr};
    }
  }

  // A buffer whose size the run itself found out.
  const Bound& memory(uint32_t buffer) {
    const BufferPlan& b = plan_.buffers[buffer];
    Bound& bound = bound_[buffer];
    if (!b.dynamic && !(b.kind == Buffer::Kind::output && !bound.buffer)) [[likely]]
      return bound;
    const uint64_t bytes = bytes_of(b);
    if (b.kind == Buffer::Kind::input) {
      bound = Runner::bound(tensor_argument(in_.args, b.argument, b.element), bytes);
    } else if (b.kind == Buffer::Kind::output) {
      if (!results_[b.argument]) make_dynamic_result(b.argument);
      bound = Runner::bound(*results_[b.argument], bytes);
    } else if (bytes > bound.bytes) {
      lock_->unlock();
      dynamic_blocks_.push_back(device_.allocator().allocate(bytes, stream_->pool()));
      lock_->lock();
      const Block& block = dynamic_blocks_.back();
      bound = {block.buffer, block.offset, bytes, block.host};
    }
    return bound;
  }

  void order() {
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

  // Of the arguments and results.
  template <typename F>
  void for_each_storage(F f) const {
    for (const BufferPlan& b : plan_.buffers) {
      if (b.kind == Buffer::Kind::input && b.scalar < 0)
        f(*tensor_argument(in_.args, b.argument, b.element).storage);
      if (b.kind == Buffer::Kind::output && results_[b.argument]) f(*results_[b.argument]->storage);
    }
  }

  // --- scalars -----------------------------------------------------------------------------------

  void load_scalars() {
    for (const ScalarSource& s : plan_.scalars) {
      if (s.constant) {
        scalars_.push_back(*s.constant);
        continue;
      }
      switch (s.kind) {
        case decomps::InputSource::Kind::rng_seed:
          scalars_.push_back(Scalar(static_cast<int64_t>(position().seed)));
          break;
        case decomps::InputSource::Kind::rng_offset:
          scalars_.push_back(Scalar(static_cast<int64_t>(position().offset)));
          break;
        default:
          scalars_.push_back(scalar_argument(in_.args[s.argument], s.element));
      }
    }
  }

  Generator::Position position() {
    if (drawn_) return position_;
    drawn_ = true;
    const auto counters = static_cast<uint64_t>(slots_[plan_.random_counters]);
    for (const Arg& a : in_.args) {
      if (a.kind != Arg::Kind::generator) continue;
      Generator given = *static_cast<const Generator*>(a.pointer);
      return position_ = given.draw(counters);
    }
    return position_ = default_generator().draw(counters);
  }

  static Scalar tensor_value(const TensorImpl& t) {
    if (t.host()) return load_scalar(t.dtype, t.host());
    return Tensor(share(t)).item();
  }

  static Scalar scalar_argument(const Arg& arg, uint32_t element) {
    switch (arg.kind) {
      case Arg::Kind::tensor:
        return tensor_value(*static_cast<const TensorImpl*>(arg.pointer));
      case Arg::Kind::tensor_list:
        return tensor_value(*static_cast<const Tensor*>(arg.pointer)[element].impl());
      case Arg::Kind::scalar_list:
        return static_cast<const Scalar*>(arg.pointer)[element];
      case Arg::Kind::float_list:
        return static_cast<const double*>(arg.pointer)[element];
      case Arg::Kind::int_list:
        return static_cast<const int64_t*>(arg.pointer)[element];
      default:
        return scalar_of(arg);
    }
  }

  void write_scalar(const ScalarPlan& p, std::byte* to) const {
    int64_t integer = 0;
    double real = 0;
    if (p.source == schedule::ScalarParam::Source::integer) {
      integer = slots_[p.index];
      real = static_cast<double>(integer);
    } else if (p.source == schedule::ScalarParam::Source::input) {
      const Scalar& v = scalars_[p.index];
      const DType dtype = plan_.scalars[p.index].dtype;
      if (is_integral(dtype) || is_bool(dtype)) {
        integer = is_bool(dtype) ? v.to_bool() : v.to_int();
        real = static_cast<double>(integer);
      } else {
        real = round_to(dtype, p.part ? v.imag() : v.to_double());
      }
    }  // error_base: every program has an error slot of its own, so codes start at 1
    switch (p.type) {
      case kir::Scalar::f32:
        return put(static_cast<float>(real), to);
      case kir::Scalar::f64:
        return put(real, to);
      case kir::Scalar::i64:
        return put(integer, to);
      default:
        return put(static_cast<int32_t>(integer), to);
    }
  }
  template <typename T>
  static void put(T value, std::byte* to) {
    std::memcpy(to, &value, sizeof(T));
  }

  // --- runs that repeat --------------------------------------------------------------------------

  // Enqueues the run by way of a recording; false when it is to be launched.
  bool run_again() {
    Recordings& recordings = device_.recordings();
    // Memory that others own may be freed without our knowing.
    if (!plan_.repeatable || !recordings.available() || !exact_) [[likely]]
      return false;
    RunSignature signature{plan_.id, stream_->index()};
    for (const StepPlan& s : plan_.steps) {
      const bool fixed = std::visit([&](const auto& one) { return sign(one, signature); }, s.step);
      if (!fixed) return false;
    }
    bool enqueued = true;
    switch (recordings.play(stream_->handle(), signature)) {
      case Recordings::Next::launch:
        return false;
      case Recordings::Next::record:
        // The first launch waits for what is before the recording, whatever that is.
        restart_hazards();
        enqueued = recordings.record(stream_->handle(), std::move(signature),
                                     [&] { run_steps(plan_.steps); });
        break;
      case Recordings::Next::played:
        break;
    }
    restart_hazards();
    return enqueued;
  }

  static void sign(const Bound& m, RunSignature& words) {
    words.push_back(reinterpret_cast<uintptr_t>(m.buffer));
    words.push_back(m.offset);
  }
  bool sign(const LaunchPlan& l, RunSignature& words) {
    LaunchData d;
    const bool runs = gather(l, d);
    if (device_.target().loop_limit != 0) return false;
    words.push_back(runs ? reinterpret_cast<uintptr_t>(l.kernel) : 0);
    if (!runs) return true;
    words.insert(words.end(), d.groups, d.groups + 3);
    for (const Bound& m : d.memory) sign(m, words);
    words.insert(words.end(), d.scalars.begin(), d.scalars.end());
    return true;
  }
  bool sign(const CopyPlan& c, RunSignature& words) {
    sign(memory(c.source), words);
    sign(memory(c.target), words);
    words.push_back(static_cast<uint64_t>(slots_[c.elements]));
    return true;
  }
  bool sign(const NativePlan& n, RunSignature& words) {
    const auto known = std::ranges::find(natives_, &n, &FoundNative::plan);
    if (known == natives_.end()) return false;
    // Operands would be made dense by way of the host.
    if (!(known->primitive.flags & PRIMSET_PRIMITIVE_STRIDED) && !all_dense(n)) return false;
    const auto add = [&](const std::vector<Slot>& slots) {
      for (const Slot s : slots) words.push_back(static_cast<uint64_t>(slots_[s]));
    };
    for (const auto* list : {&n.operands, &n.results}) {
      for (const NativePlan::Operand& o : *list) {
        sign(memory(o.buffer), words);
        words.push_back(static_cast<uint64_t>(slots_[o.offset]));
        add(o.sizes);
        add(o.strides);
      }
    }
    for (const NativePlan::Attribute& a : n.attributes) add(a.integers);
    return true;
  }
  template <typename Step>
  bool sign(const Step&, RunSignature&) {
    return false;  // asks the host what to do
  }

  // --- steps -------------------------------------------------------------------------------------

  void run_steps(const std::vector<StepPlan>& steps) {
    for (const StepPlan& s : steps) {
      if (const auto* launch = std::get_if<LaunchPlan>(&s.step))
        step(*launch);
      else
        std::visit([&](const auto& one) { step(one); }, s.step);
    }
  }

  void step(const LaunchPlan& l) {
    LaunchData d;
    if (!gather(l, d)) return;
    const LoadedKernel& kernel =
        has_long_loops(l, d, 0) ? device_.kernels().unrolled_of(*l.kernel, *l.source) : *l.kernel;
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

  void step(const CopyPlan& c) {
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
  void restart_hazards() {
    if (!device_.runs_inline()) stream_->hazards().restart({}, false);
  }

  std::vector<int64_t> values(const std::vector<Slot>& list) const {
    std::vector<int64_t> out;
    for (Slot s : list) out.push_back(slots_[s]);
    return out;
  }

  struct FoundNative {
    const NativePlan* plan;
    NativeCall call;
    primset_primitive primitive;
  };

  // The natives whose sizes are known before the run: what one refuses is found out while another
  // plan can still do it.
  void find_natives() {
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

  [[noreturn]] void refused(const NativePlan& n) const {
    throw Error(ErrorCode::not_implemented,
                fmt::format("{} runs '{}' natively, but not with these sizes",
                            device_.device().to_string(), n.name));
  }

  void step(const NativePlan& n) {
    const auto known = std::ranges::find(natives_, &n, &FoundNative::plan);
    if (known != natives_.end()) return run_native(*known);
    FoundNative found{&n, native_call(n, false), {}};
    if (!found.call.find(device_.plugin(), n.name, &found.primitive)) refused(n);
    run_native(found);
  }

  void run_native(FoundNative& found) {
    const NativePlan& n = *found.plan;
    const bool strided = found.primitive.flags & PRIMSET_PRIMITIVE_STRIDED;
    if (!strided && !all_dense(n)) found.call = native_call(n, true);
    stream_->handle().run(found.primitive, found.call.call(), n.name);
    restart_hazards();
    count(Counter::native_calls);
  }

  bool all_dense(const NativePlan& n) const {
    return std::ranges::all_of(n.operands, [&](const NativePlan::Operand& o) {
      return is_contiguous(values(o.sizes), values(o.strides));
    });
  }

  NativeCall native_call(const NativePlan& n, bool make_dense) {
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

  // A contiguous copy of an operand, by way of the host: the device may have no other way.
  void add_dense(const NativePlan::Operand& o, NativeCall& call) {
    const std::vector<int64_t> sizes = values(o.sizes), strides = values(o.strides);
    const size_t width = byte_size(o.dtype);
    const Bound m = memory(o.buffer);
    std::vector<std::byte> from(static_cast<size_t>(extent(sizes, strides)) * width);
    std::vector<std::byte> packed(static_cast<size_t>(element_count(sizes)) * width);
    stream_->handle().copy_out(m.buffer, m.offset + static_cast<uint64_t>(slots_[o.offset]) * width,
                               from.data(), from.size());
    pack(from.data(), sizes, strides, width, packed.data());
    lock_->unlock();
    const Bound dense = number_buffer(packed.size());
    lock_->lock();
    stream_->handle().copy_in(dense.buffer, dense.offset, packed.data(), packed.size());
    std::vector<int64_t> packed_strides(sizes.size());
    contiguous_strides(sizes, packed_strides);
    call.add_operand(o.dtype, sizes, std::move(packed_strides), dense.buffer, dense.offset);
    count(Counter::copies);
  }

  template <typename T>
  T read(uint32_t buffer) {
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

  void set_dynamic(uint32_t number, int64_t value) {
    slots_[plan_.code.dynamic_slots[number]] = value;
    Code::run(plan_.code.dynamic[number], slots_);
  }

  void step(const ReadCountPlan& r) { set_dynamic(r.dynamic, read<int64_t>(r.buffer)); }
  void step(const LoopPlan& l) {
    for (int64_t i = 0, n = slots_[l.count]; i < n; ++i) {
      set_dynamic(l.dynamic, i);
      run_steps(l.body);
    }
  }
  void step(const WhilePlan& w) {
    for (;;) {
      run_steps(w.test);
      if (!read<uint8_t>(w.condition)) return;
      run_steps(w.body);
    }
  }
  void step(const BranchPlan& b) {
    run_steps(read<uint8_t>(b.condition) ? b.then_steps : b.else_steps);
  }

  const Plan& plan_;
  const RunInputs& in_;
  int64_t* slots_;
  DeviceState& device_;
  Results& results_;
  StreamState* stream_ = nullptr;
  StreamLock* lock_ = nullptr;
  bool exact_ = true;
  bool drawn_ = false;
  Generator::Position position_{};
  SmallVector<Bound, 12> bound_;
  SmallVector<Block, 4> blocks_;
  SmallVector<Block, 1> dynamic_blocks_;
  SmallVector<Scalar, 4> scalars_;
  std::vector<FoundNative> natives_;
};

// Runs of one plan, a launch of all of them at a time.
class TableRunner {
 public:
  TableRunner(const Plan& plan, std::span<const RunInputs> inputs, std::span<Results> results)
      : plan_(plan), device_(*inputs[0].device), stream_(device_.current_stream()) {
    for (size_t i = 0; i < inputs.size(); ++i) runs_.emplace_back(plan, inputs[i], results[i]);
  }

  void run() {
    for (Runner& r : runs_) r.prepare();
    StreamLock lock(stream_);
    for (Runner& r : runs_) {
      r.begin(lock);
      exact_ &= r.exact();
    }
    lock_ = &lock;
    for (const StepPlan& s : plan_.steps) launch(std::get<LaunchPlan>(s.step));
  }

 private:
  void launch(const LaunchPlan& l) {
    for (Runner& r : runs_) {
      Runner::LaunchData d;
      if (!r.gather(l, d)) continue;
      if (groups_ + d.groups[0] > device_.target().max_groups_x) flush(l);
      long_loops_ |= r.has_long_loops(l, d, kTableRounds);
      append(d, l.kernel->scalar_bytes);
    }
    flush(l);
  }

  const LoadedKernel& table_of(const LaunchPlan& l) const {
    KernelCache& kernels = device_.kernels();
    const LoadedKernel& table = kernels.table_of(*l.kernel, *l.source);
    if (!long_loops_) [[likely]]
      return table;
    return kernels.unrolled_of(table, kir::table_form(*l.source, device_.target()));
  }

  // The entry's form: codegen/kernel/table_form.h.
  void append(const Runner::LaunchData& d, uint32_t scalar_bytes) {
    put(groups_);
    put(uint64_t{d.groups[0]});
    for (const Bound& m : d.memory) put(m.buffer ? address(m.buffer) + m.offset : 0);
    for (uint32_t i = 0; i < (scalar_bytes + 7) / 8; ++i) put(d.scalars[i]);
    bindings_.insert(bindings_.end(), d.bindings.begin(), d.bindings.end());
    groups_ += d.groups[0];
    ++entries_;
  }
  void put(uint64_t word) { table_.push_back(word); }
  uint64_t address(primset_buffer buffer) const {
    const plugin::PluginDevice& plugin = device_.plugin();
    return plugin.device_addresses()->address(plugin.handle(), buffer);
  }

  void flush(const LaunchPlan& l) {
    if (entries_ == 0) return;
    const LoadedKernel& kernel = table_of(l);
    const uint64_t bytes = table_.size() * sizeof(uint64_t);
    lock_->unlock();
    const Block block = device_.allocator().allocate(bytes, stream_.pool());
    lock_->lock();
    if (device_.runs_inline() && block.host) {
      std::memcpy(block.host, table_.data(), bytes);
    } else {
      stream_.handle().copy_in(block.buffer, block.offset, table_.data(), bytes);
      stream_.hazards().restart({}, false);
    }
    bindings_[0] = {block.buffer, block.offset, bytes, PRIMSET_ACCESS_READ, 0};
    const uint64_t scalars = entries_;
    primset_launch launch{};
    launch.struct_size = sizeof(launch);
    launch.kernel = kernel.module.kernel();
    launch.groups[0] = static_cast<uint32_t>(groups_);
    launch.groups[1] = launch.groups[2] = 1;
    launch.binding_count = static_cast<uint32_t>(bindings_.size());
    launch.bindings = bindings_.data();
    launch.scalars = &scalars;
    launch.scalar_bytes = kernel.scalar_bytes;
    launch.flags = stream_.launch_flags(bindings_, exact_);
    stream_.handle().launch(launch);
    count(Counter::launches);
    device_.allocator().release(block, stream_.pool());
    table_.clear();
    bindings_.resize(1);
    groups_ = entries_ = 0;
    long_loops_ = false;
  }

  const Plan& plan_;
  DeviceState& device_;
  StreamState& stream_;
  StreamLock* lock_ = nullptr;
  std::deque<Runner> runs_;
  bool exact_ = true;
  std::vector<uint64_t> table_;
  std::vector<primset_binding> bindings_{1};  // the table, then what its entries point to
  uint64_t groups_ = 0, entries_ = 0;
  bool long_loops_ = false;  // of an entry in the table
};

bool launches_in_tables(const StepPlan& step, const DeviceState& device) {
  const auto* launch = std::get_if<LaunchPlan>(&step.step);
  return launch && kir::has_table_form(*launch->source) && device.plugin().device_addresses();
}

}  // namespace

const TensorImpl& tensor_argument(std::span<const Arg> args, uint32_t argument, uint32_t element) {
  const Arg& a = args[argument];
  if (a.kind == Arg::Kind::tensor) return *static_cast<const TensorImpl*>(a.pointer);
  if (a.kind == Arg::Kind::tensor_list && element < a.count)
    return *static_cast<const Tensor*>(a.pointer)[element].impl();
  throw Error(ErrorCode::internal, fmt::format("argument {} is no tensor", argument));
}

void execute(const Plan& plan, const RunInputs& inputs, Results& results) {
  Runner(plan, inputs, results).run();
}

bool can_execute_in_tables(const Plan& plan, const DeviceState& device) {
  return plan.program && !plan.checks && !plan.draws_random && plan.outs != Plan::Outs::after &&
         std::ranges::none_of(plan.buffers, &BufferPlan::dynamic) &&
         std::ranges::all_of(plan.steps,
                             [&](const StepPlan& s) { return launches_in_tables(s, device); });
}

void execute_in_tables(const Plan& plan, std::span<const RunInputs> inputs,
                       std::span<Results> results) {
  TableRunner(plan, inputs, results).run();
}

}  // namespace primset::runtime
