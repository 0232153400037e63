#include "backends/cuda/recording.h"

#include <utility>

#include "backends/cuda/stream.h"

using namespace primset_cuda;

primset_recording_t::primset_recording_t(const DriverApi& cu, Graph graph,
                                         std::vector<std::shared_ptr<const void>> kept)
    : cu_(cu), kept_(std::move(kept)) {
  PRIMSET_CUDA(cu, cuGraphInstantiateWithFlags, &handle, graph, 0);
}

primset_recording_t::~primset_recording_t() {
  cu_.cuGraphExecDestroy(handle);
}

// Of this stream alone: what other threads do meanwhile neither joins the graph nor ends the
// capture.
void primset_stream_t::begin_recording() {
  PRIMSET_CUDA(cu, cuStreamBeginCapture_v2, handle, kCaptureModeRelaxed);
  is_recording = true;
}

std::unique_ptr<primset_recording_t> primset_stream_t::end_recording(bool keep) {
  is_recording = false;
  std::vector<std::shared_ptr<const void>> kept = std::exchange(recorded, {});
  Graph captured = nullptr;
  const Result result = cu.cuStreamEndCapture(handle, &captured);
  const std::unique_ptr<GraphTag, Result (*)(Graph)> graph(captured, cu.cuGraphDestroy);
  if (!keep) return nullptr;  // a capture that was spoilt has ended, too
  check(cu, result, "cuStreamEndCapture");
  return std::make_unique<primset_recording_t>(cu, graph.get(), std::move(kept));
}

void primset_stream_t::play(const primset_recording_t& recording) {
  PRIMSET_CUDA(cu, cuGraphLaunch, recording.handle, handle);
}
