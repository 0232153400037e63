// How far formulas have expanded. One that calls another twice, and that another, is short to write
// and grows beyond every memory; a long chain of calls exhausts the stack.
#ifndef PRIMSET_DECOMPS_ENGINE_FORMULA_EXPANSION_H_
#define PRIMSET_DECOMPS_ENGINE_FORMULA_EXPANSION_H_

#include <cstdint>

namespace primset::decomps {

// Of one Tracer. Counts from the outermost formula on.
class Expansion {
 public:
  // One formula inside another; throws Error{value} where too many are.
  class Level {
   public:
    explicit Level(Expansion& expansion);
    ~Level() { --expansion_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Expansion& expansion_;
  };

  // A term of a formula is evaluated; throws Error{value} where they are too many.
  void count_term() {
    if (++terms_ > kMaxTerms) too_many_terms();
  }

  static constexpr uint32_t kMaxDepth = 200;
  static constexpr uint32_t kMaxTerms = 200'000;

 private:
  [[noreturn]] static void too_many_terms();

  uint32_t depth_ = 0;
  uint32_t terms_ = 0;
};

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_FORMULA_EXPANSION_H_
