// Runs that repeat are recorded and then replayed (recordings.h): a run is signed by what its
// launches are given.
#include <algorithm>
#include <variant>

#include "sdk/runtime/execute/runner.h"

namespace primset::runtime {
namespace {

void sign_memory(const Bound& m, RunSignature& words) {
  words.push_back(reinterpret_cast<uintptr_t>(m.buffer));
  words.push_back(m.offset);
}

}  // namespace

bool Runner::run_again() {
  Recordings& recordings = device_.recordings();
  // Memory that others own may be freed without our knowing.
  if (!recordings.available() || !exact_) return false;
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
      is_recording_ = true;
      enqueued = recordings.record(stream_->handle(), std::move(signature),
                                   [&] { run_steps(plan_.steps); });
      is_recording_ = false;
      break;
    case Recordings::Next::replayed:
      break;
  }
  restart_hazards();
  return enqueued;
}

bool Runner::sign(const LaunchPlan& l, RunSignature& words) {
  LaunchData d;
  const bool runs = gather(l, d);
  if (device_.target().loop_limit != 0) return false;
  words.push_back(runs ? reinterpret_cast<uintptr_t>(l.kernel.get()) : 0);
  if (!runs) return true;
  words.insert(words.end(), d.groups, d.groups + 3);
  for (const Bound& m : d.memory) sign_memory(m, words);
  words.insert(words.end(), d.scalars.begin(), d.scalars.end());
  return true;
}

bool Runner::sign(const CopyPlan& c, RunSignature& words) {
  sign_memory(memory(c.source), words);
  sign_memory(memory(c.target), words);
  words.push_back(static_cast<uint64_t>(slots_[c.elements]));
  return true;
}

bool Runner::sign(const NativePlan& n, RunSignature& words) {
  const FoundNative* known = found_native(n);
  if (!known || known->primitive.flags & PRIMSET_PRIMITIVE_UNRECORDED) return false;
  // Operands would be made dense by way of the host.
  if (!(known->primitive.flags & PRIMSET_PRIMITIVE_STRIDED) && !all_dense(n)) return false;
  const auto add = [&](const std::vector<Slot>& slots) {
    for (const Slot s : slots) words.push_back(static_cast<uint64_t>(slots_[s]));
  };
  for (const auto* list : {&n.operands, &n.results}) {
    for (const NativePlan::Operand& o : *list) {
      sign_memory(memory(o.buffer), words);
      words.push_back(static_cast<uint64_t>(slots_[o.offset]));
      add(o.sizes);
      add(o.strides);
    }
  }
  for (const NativePlan::Attribute& a : n.attributes) add(a.integers);
  return true;
}

}  // namespace primset::runtime
