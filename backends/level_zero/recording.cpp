#include "backends/level_zero/recording.h"

#include "backends/level_zero/device.h"

using namespace primset_level_zero;

primset_recording_t::primset_recording_t(primset_device device_)
    : device(device_),
      list(*device, CommandList::Kind::recorded),
      start(device->context->events.take()),
      end(device->context->events.take()) {
  list.wait_and_reset(start.get());
}

void primset_recording_t::close() {
  list.signal(end.get());
  list.close();
}

primset_recording_t::~primset_recording_t() {
  if (played.get()) device->ze.zeEventHostSynchronize(played.get(), UINT64_MAX);
  // The pool takes events back that are set.
  device->ze.zeEventHostSignal(start.get());
  device->ze.zeEventHostSignal(end.get());
}
