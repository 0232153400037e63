// The C++ decompositions by the names that specs use (`decompose: {function: f}`), with one
// signature.
#ifndef PRIMSET_DECOMPS_ENGINE_REGISTRY_H_
#define PRIMSET_DECOMPS_ENGINE_REGISTRY_H_

#include <string_view>
#include <vector>

#include "decomps/engine/apply.h"

namespace primset::decomps {

// A decomposition of any type, called with a list of arguments. boxed() in boxing.h makes one.
class Decomposition {
 public:
  using AnyFunction = void (*)();
  using Call = std::vector<Val> (*)(AnyFunction function, Tracer& t, const Arguments& args);

  Decomposition() = default;
  Decomposition(AnyFunction function, Call call) : function_(function), call_(call) {}
  explicit operator bool() const { return call_ != nullptr; }
  std::vector<Val> operator()(Tracer& t, const Arguments& args) const {
    return call_(function_, t, args);
  }

 private:
  AnyFunction function_ = nullptr;
  Call call_ = nullptr;
};

// Of an operator and of a derived primitive; empty when there is none of this name.
Decomposition find_decomposition(std::string_view function);
Decomposition find_prim_decomposition(std::string_view function);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_REGISTRY_H_
