// Random numbers: a counter-based generator (Philox 4x32-10). One seed and offset give the same
// numbers on every device. Copying a Generator copies a handle. Thread safe.
#ifndef PRIMSET_GENERATOR_H_
#define PRIMSET_GENERATOR_H_

#include <primset/export.h>

#include <cstdint>
#include <memory>

namespace primset {

class PRIMSET_API Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed);
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // as PyTorch's

  void set_seed(uint64_t seed);  // the offset starts at 0 again
  uint64_t seed() const;
  uint64_t offset() const;  // in Philox counters of four words
  void set_offset(uint64_t offset);

  struct Position {
    uint64_t seed, offset;
  };
  // Returns the current position and advances the generator by `counters`, atomically.
  Position draw(uint64_t counters);

  friend bool operator==(const Generator& a, const Generator& b) { return a.state_ == b.state_; }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The generator of operators that are given none; one for the whole process.
PRIMSET_API Generator default_generator();
PRIMSET_API void manual_seed(uint64_t seed);

}  // namespace primset

#endif  // PRIMSET_GENERATOR_H_
