#include "primset/generator.h"

#include <mutex>

namespace primset {

struct Generator::State {
  mutable std::mutex mutex;
  uint64_t seed = kDefaultSeed;
  uint64_t offset = 0;
};

Generator::Generator(uint64_t seed) : state_(std::make_shared<State>()) {
  state_->seed = seed;
}

void Generator::set_seed(uint64_t seed) {
  std::lock_guard lock(state_->mutex);
  state_->seed = seed;
  state_->offset = 0;
}

uint64_t Generator::seed() const {
  std::lock_guard lock(state_->mutex);
  return state_->seed;
}

uint64_t Generator::offset() const {
  std::lock_guard lock(state_->mutex);
  return state_->offset;
}

void Generator::set_offset(uint64_t offset) {
  std::lock_guard lock(state_->mutex);
  state_->offset = offset;
}

Generator::Position Generator::draw(uint64_t counters) {
  std::lock_guard lock(state_->mutex);
  const Position position{state_->seed, state_->offset};
  state_->offset += counters;
  return position;
}

Generator default_generator() {
  static Generator* instance = new Generator;
  return *instance;
}

void manual_seed(uint64_t seed) {
  default_generator().set_seed(seed);
}

}  // namespace primset
