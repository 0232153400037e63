#include "codegen/schedule/program/kernels.h"

#include "codegen/kernel/transform/rare_choices.h"

namespace primset::schedule {

BuiltKernel built(Frame&& f) {
  LaunchStep step = f.step();
  Analysis analysis = f.analysis();
  const bool simt = f.target().simt;
  kir::Kernel kernel = std::move(f).finish();
  if (!simt) kir::skip_rare_choices(kernel);
  return {std::move(kernel), std::move(step), std::move(analysis)};
}

}  // namespace primset::schedule
