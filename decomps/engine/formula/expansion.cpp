#include "decomps/engine/formula/expansion.h"

#include <fmt/format.h>

#include "primset/error.h"

namespace primset::decomps {

Expansion::Level::Level(Expansion& expansion) : expansion_(expansion) {
  if (expansion.depth_ >= kMaxDepth) {
    throw Error(ErrorCode::value,
                fmt::format("a chain of operators whose formulas call one another is longer than "
                            "{}; expected a shorter one",
                            kMaxDepth));
  }
  if (expansion.depth_++ == 0) expansion.terms_ = 0;
}

void Expansion::too_many_terms() {
  throw Error(ErrorCode::value,
              fmt::format("the formula expands to more than {} terms, those of the operators that "
                          "it calls included; expected fewer",
                          kMaxTerms));
}

}  // namespace primset::decomps
