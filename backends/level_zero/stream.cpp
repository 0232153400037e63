#include "backends/level_zero/stream.h"

#include <utility>

#include "backends/common/abi_boundary.h"

using namespace primset_level_zero;

namespace {

// So many events may wait for a stream's next mark.
constexpr size_t kMostWaitedFor = 64;

}  // namespace

primset_stream_t::primset_stream_t(primset_device device_)
    : StagedStream(device_), list_(*device, CommandList::Kind::immediate) {}

primset_stream_t::~primset_stream_t() {
  try {
    synchronize();
  } catch (const std::exception& e) {
    primset_backend::log(device->driver->host(), PRIMSET_LOG_ERROR,
                         std::string("level_zero: stream_destroy: ") + e.what());
  }
}

// --- order ---------------------------------------------------------------------------------------

Mark primset_stream_t::end() {
  Mark mark(device->ze, device->context->events.take());
  list_.signal(mark.get());
  return mark;
}

void primset_stream_t::synchronize() {
  flush();
  wait(submitted());
}

void primset_stream_t::wait_for(const primset_event_t& event) {
  const Mark mark = event.mark();
  if (!mark.get()) return;
  while (!waited_for_.empty() && waited_for_.front().value <= passed()) waited_for_.pop_front();
  waited_for_.push_back({submitted() + 1, mark});
  list_.wait(mark.get());
  if (waited_for_.size() < kMostWaitedFor) return;
  flush();
  reclaim();
}

// --- recordings ----------------------------------------------------------------------------------

void primset_stream_t::begin_recording() {
  recording_ = std::make_unique<primset_recording_t>(device);
}

std::unique_ptr<primset_recording_t> primset_stream_t::end_recording(bool keep) {
  std::unique_ptr<primset_recording_t> recording = std::move(recording_);
  if (!keep) return nullptr;
  recording->close();
  return recording;
}

void primset_stream_t::play(primset_recording_t& recording) {
  const Functions& ze = device->ze;
  if (!queue_) {
    const ze_command_queue_desc_t desc = device->next_queue();
    queue_ = {PRIMSET_ZE_MAKE(ze_command_queue_handle_t, ze, zeCommandQueueCreate,
                              device->context->handle.get(), device->physical.handle, &desc),
              {ze.zeCommandQueueDestroy}};
  }
  list_.signal(recording.start.get());
  ze_command_list_handle_t list = recording.list.handle();
  PRIMSET_ZE(ze, zeCommandQueueExecuteCommandLists, queue_.get(), 1, &list, nullptr);
  list_.wait_and_reset(recording.end.get());
  recording.played = end();
}

// --- copies and fills ----------------------------------------------------------------------------

void primset_stream_t::enqueue_copy(void* to, const void* from, uint64_t bytes, bool ordered) {
  if (ordered) commands().order();
  commands().copy(to, from, bytes);
}

void primset_stream_t::fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
                            const unsigned char* pattern, uint32_t pattern_bytes) {
  commands().order();
  commands().fill(primset_backend::pointer(buffer.address + offset), bytes, pattern,
                  primset_backend::period(pattern, pattern_bytes));
}
