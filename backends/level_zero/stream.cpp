#include "backends/level_zero/stream.h"

#include "backends/common/abi_boundary.h"
#include "backends/common/staging.h"

using namespace primset_level_zero;

namespace {

// So many events may wait for a stream's next mark.
constexpr size_t kMostWaitedFor = 64;

}  // namespace

primset_stream_t::primset_stream_t(primset_device device_)
    : device(device_), list_(*device, CommandList::Kind::immediate) {}

primset_stream_t::~primset_stream_t() {
  try {
    synchronize();
  } catch (const std::exception& e) {
    primset_backend::log(device->driver->host(), PRIMSET_LOG_ERROR,
                         std::string("level_zero: stream_destroy: ") + e.what());
  }
  if (queue_) device->ze.zeCommandQueueDestroy(queue_);
}

// --- order ---------------------------------------------------------------------------------------

EventRef primset_stream_t::mark() {
  EventRef event = device->events->take();
  list_.signal(event.get());
  return event;
}

void primset_stream_t::flush() {
  marks_.push_back({submitted_ + 1, mark()});
  ++submitted_;
  if (upload_) upload_->ring.mark(submitted_);
  if (readback_) readback_->ring.mark(submitted_);
}

void primset_stream_t::synchronize() {
  flush();
  wait(submitted_);
}

void primset_stream_t::wait(uint64_t value) {
  for (const Held& mark : marks_) {
    if (mark.value < value) continue;
    PRIMSET_ZE(device->ze, zeEventHostSynchronize, mark.event.get(), UINT64_MAX);
    break;
  }
  release(value);
}

void primset_stream_t::reclaim() {
  while (!marks_.empty()) {
    const ze_result_t result = device->ze.zeEventQueryStatus(marks_.front().event.get());
    if (result == ZE_RESULT_NOT_READY) return;
    check(result, "zeEventQueryStatus");
    release(marks_.front().value);
  }
}

void primset_stream_t::release(uint64_t value) {
  const auto drop = [value](std::deque<Held>& all) {
    while (!all.empty() && all.front().value <= value) all.pop_front();
  };
  drop(marks_);
  drop(waited_for_);
  if (upload_) upload_->ring.release(value);
  if (readback_) readback_->ring.release(value);
}

void primset_stream_t::wait_for(EventRef event) {
  waited_for_.push_back({submitted_ + 1, event});
  list_.wait(event.get());
  if (waited_for_.size() < kMostWaitedFor) return;
  flush();
  reclaim();
}

void primset_stream_t::play(const primset_recording_t& played) {
  const Functions& ze = device->ze;
  if (!queue_) {
    const ze_command_queue_desc_t desc = device->next_queue();
    PRIMSET_ZE(ze, zeCommandQueueCreate, device->context, device->physical.handle, &desc, &queue_);
  }
  list_.signal(played.start.get());
  ze_command_list_handle_t list = played.list.handle();
  PRIMSET_ZE(ze, zeCommandQueueExecuteCommandLists, queue_, 1, &list, nullptr);
  list_.wait_and_reset(played.end.get());
}

// --- staging memory ------------------------------------------------------------------------------

primset_stream_t::Piece primset_stream_t::take(std::unique_ptr<Staging>& staging, uint64_t bytes) {
  if (!staging) staging = std::make_unique<Staging>(device, primset_backend::kRingBytes);
  return {staging->memory + primset_backend::take_piece(*this, staging->ring, bytes)};
}

primset_stream_t::Piece primset_stream_t::upload(uint64_t bytes) {
  return take(upload_, bytes);
}
primset_stream_t::Piece primset_stream_t::readback(uint64_t bytes) {
  return take(readback_, bytes);
}

void primset_stream_t::copy_from(const Piece& piece, uint64_t to, uint64_t offset, uint64_t bytes,
                                 bool ordered) {
  if (ordered) list_.order();
  list_.copy(to + offset, reinterpret_cast<uint64_t>(piece.mapped), bytes);
}

void primset_stream_t::copy_to(uint64_t from, uint64_t offset, const Piece& piece, uint64_t bytes) {
  list_.order();
  list_.copy(reinterpret_cast<uint64_t>(piece.mapped), from + offset, bytes);
}
