#include "backends/cuda/recording.h"

#include <memory>
#include <utility>
#include <vector>

#include "backends/cuda/stream.h"

struct primset_recording_t {
  primset_cuda::GraphExec handle = nullptr;
  // What its work uses beside buffers and modules.
  std::vector<std::shared_ptr<const void>> kept;
};

namespace primset_cuda {
namespace {

// Of this stream alone: what other threads do meanwhile neither joins the graph nor ends the
// capture.
primset_status* begin(primset_stream stream) {
  return guarded("recordings.begin", [&] {
    const ContextScope scope(*stream->device);
    PRIMSET_CUDA(stream->cu, cuStreamBeginCapture_v2, stream->handle, kCaptureModeRelaxed);
    stream->is_recording = true;
  });
}

primset_status* end(primset_stream stream, primset_recording* out_recording) {
  if (out_recording) *out_recording = nullptr;
  return guarded("recordings.end", [&] {
    const DriverApi& cu = stream->cu;
    const ContextScope scope(*stream->device);
    stream->is_recording = false;
    std::vector<std::shared_ptr<const void>> kept = std::exchange(stream->recorded, {});
    Graph captured = nullptr;
    const Result result = cu.cuStreamEndCapture(stream->handle, &captured);
    const std::unique_ptr<GraphTag, Result (*)(Graph)> graph(captured, cu.cuGraphDestroy);
    if (!out_recording) return;  // a capture that was spoilt has ended, too
    check(cu, result, "cuStreamEndCapture");
    auto recording = std::make_unique<primset_recording_t>();
    PRIMSET_CUDA(cu, cuGraphInstantiateWithFlags, &recording->handle, graph.get(), 0);
    recording->kept = std::move(kept);
    *out_recording = recording.release();
  });
}

primset_status* play(primset_stream stream, primset_recording recording) {
  return guarded("recordings.play", [&] {
    const ContextScope scope(*stream->device);
    PRIMSET_CUDA(stream->cu, cuGraphLaunch, recording->handle, stream->handle);
  });
}

void destroy(primset_device device, primset_recording recording) {
  const ContextScope scope(*device, std::nothrow);
  device->cu.cuGraphExecDestroy(recording->handle);
  delete recording;
}

}  // namespace

const primset_recordings kRecordings = {sizeof(primset_recordings), 0, begin, end, play, destroy};

}  // namespace primset_cuda
