// A seeded source of choices that are the same on every machine.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_H_

#include <cstdint>
#include <random>
#include <vector>

namespace primset::schedule {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t below(uint64_t n) { return engine_() % n; }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least + 1)));
  }
  bool chance(uint64_t percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_H_
