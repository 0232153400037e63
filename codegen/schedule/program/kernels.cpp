#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

BuiltKernel built(Frame&& f) {
  LaunchStep step = f.step();
  Analysis analysis = f.analysis();
  return {std::move(f).finish(), std::move(step), std::move(analysis)};
}

}  // namespace primset::schedule
