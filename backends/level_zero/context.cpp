#include "backends/level_zero/context.h"

#include "backends/level_zero/errors.h"

namespace primset_level_zero {
namespace {

ze_context_handle_t create(const Functions& ze, ze_driver_handle_t driver) {
  const auto desc = structure<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  return PRIMSET_ZE_MAKE(ze_context_handle_t, ze, zeContextCreate, driver, &desc);
}

}  // namespace

Context::Context(const Functions& ze, ze_driver_handle_t driver)
    : handle(create(ze, driver), {ze.zeContextDestroy}), events(ze, handle.get()) {}

std::shared_ptr<Context> Contexts::of(const Functions& ze, ze_driver_handle_t driver) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Context>& known = contexts_[driver];
  std::shared_ptr<Context> context = known.lock();
  if (!context) known = context = std::make_shared<Context>(ze, driver);
  return context;
}

}  // namespace primset_level_zero
