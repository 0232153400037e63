// Runs of one plan, each launch done for all of them at a time
// (codegen/kernel/transform/pointer_table.h).
#include <algorithm>
#include <cstring>
#include <deque>

#include "codegen/kernel/transform/pointer_table.h"
#include "sdk/runtime/execute/runner.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {

// Loop iterations that finding its entry takes a launch in table form.
constexpr uint32_t kSearchIterations = 64;

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
      long_loops_ |= r.has_long_loops(l, d, kSearchIterations);
      append(d, l.kernel->scalar_bytes);
    }
    flush(l);
  }

  const LoadedKernel& table_of(const LaunchPlan& l) const {
    KernelCache& kernels = device_.kernels();
    const LoadedKernel& table = kernels.table_of(*l.kernel);
    if (!long_loops_) [[likely]]
      return table;
    return kernels.unrolled_of(table);
  }

  // The entry's form: codegen/kernel/transform/pointer_table.h.
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

  // One launch for all entries gathered. The table's memory is released at once: the stream runs in
  // order, so it is reused behind the launch only.
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
  return launch && kir::has_table_form(launch->kernel->source, device.target()) &&
         device.plugin().device_addresses();
}

}  // namespace

bool can_execute_in_tables(const Plan& plan, const DeviceState& device) {
  return plan.computes && !plan.checks && !plan.draws_random && plan.outs != Plan::Outs::after &&
         std::ranges::none_of(plan.buffers, &BufferPlan::dynamic) &&
         std::ranges::all_of(plan.steps,
                             [&](const StepPlan& s) { return launches_in_tables(s, device); });
}

void execute_in_tables(const Plan& plan, std::span<const RunInputs> inputs,
                       std::span<Results> results) {
  TableRunner(plan, inputs, results).run();
}

}  // namespace primset::runtime
