#include "backends/cuda/libraries/cudnn_graph.h"

#include <algorithm>
#include <optional>
#include <string>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

// Of an engine that is not taken. Transforms (Fourier's, Winograd's) make NaN of an infinity's
// neighbours, and errors of a size that is not the terms'; f32 is not cut to TF32, nor are sums of
// halves to halves; and the same call gives the same bits each time.
constexpr DnnNote kNotTaken[] = {
    DnnNote::down_converts_inputs,
    DnnNote::reduced_precision_sums,
    DnnNote::fft,
    DnnNote::nondeterministic,
    DnnNote::winograd,
    DnnNote::winograd_4x4,
    DnnNote::winograd_6x6,
    DnnNote::winograd_13x13,
};

bool is_taken(const CudnnDescriptor& engine, const CudnnDemands& demands) {
  const auto notes = engine.read<DnnNote>(DnnAttribute::engine_notes, kDnnNotes);
  if (!demands.tensor_cores && std::ranges::find(notes, DnnNote::tensor_core) != notes.end())
    return false;
  return std::ranges::find_first_of(notes, kNotTaken) == notes.end();
}

// The library has some dozens; those of f32 without tensor cores come last.
constexpr int64_t kMostConfigs = 1024;

// Best first; empty when the library knows none by this mode.
std::vector<CudnnDescriptor> configs_of(const CudnnApi& api, const CudnnDescriptor& graph,
                                        DnnHeuristicsMode mode) {
  CudnnDescriptor heuristics(api, DnnKind::heuristics);
  heuristics.set(DnnAttribute::heuristics_graph, graph).set(DnnAttribute::heuristics_mode, mode);
  if (!heuristics.try_finalize()) return {};
  return heuristics.read_descriptors(DnnAttribute::heuristics_results, DnnKind::engine_config,
                                     kMostConfigs);
}

struct Planned {
  CudnnDescriptor plan;
  int64_t engine;
  uint64_t workspace_bytes;
};

std::optional<Planned> plan_of(const CudnnHandle& dnn, const CudnnDescriptor& config,
                               const CudnnDemands& demands) {
  CudnnDescriptor engine(dnn.api(), DnnKind::engine);
  config.read_into(DnnAttribute::config_engine, engine);
  if (!is_taken(engine, demands)) return std::nullopt;
  CudnnDescriptor plan(dnn.api(), DnnKind::execution_plan);
  plan.set(DnnAttribute::plan_handle, dnn.get()).set(DnnAttribute::plan_config, config);
  if (!plan.try_finalize()) return std::nullopt;
  const auto bytes = plan.read<int64_t>(DnnAttribute::plan_workspace_bytes, 1);
  const auto index = engine.read<int64_t>(DnnAttribute::engine_index, 1);
  if (bytes.empty() || static_cast<uint64_t>(bytes[0]) > demands.most_workspace)
    return std::nullopt;
  return Planned{std::move(plan), index.empty() ? -1 : index[0], static_cast<uint64_t>(bytes[0])};
}

// Success, or that there is no code; throws BackendError for anything else.
bool accepted(DnnStatus status, const char* function) {
  if (is_cudnn_refusal(status)) return false;
  check_cudnn(status, function);
  return true;
}

}  // namespace

// --- the handle ----------------------------------------------------------------------------------

std::shared_ptr<const CudnnHandle> CudnnHandle::open(primset_device_t& device) {
  const auto without = [&](const std::string& why) {
    if (!why.empty())
      primset_backend::log(device.driver->host(), PRIMSET_LOG_WARNING,
                           "cuda: " + why + "; convolutions and attention are generated kernels");
    return nullptr;
  };
  auto api = std::make_shared<CudnnApi>();
  std::string why;
  if (!api->load(device.driver->version(), why)) return without(why);
  try {
    const RelaxedCapture relaxed(device.cu);
    return std::make_shared<const CudnnHandle>(std::move(api));
  } catch (const BackendError& e) {
    return without(e.what());  // it does not start on this device
  }
}

CudnnHandle::CudnnHandle(std::shared_ptr<const CudnnApi> api) : api_(std::move(api)) {
  PRIMSET_CUDNN(*api_, cudnnCreate, &handle_);
}

CudnnHandle::~CudnnHandle() {
  api_->cudnnDestroy(handle_);
}

std::optional<DnnType> dnn_type(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_F32:
      return DnnType::f32;
    case PRIMSET_F64:
      return DnnType::f64;
    case PRIMSET_F16:
      return DnnType::f16;
    case PRIMSET_BF16:
      return DnnType::bf16;
    default:
      return std::nullopt;
  }
}

// --- descriptors ---------------------------------------------------------------------------------

CudnnDescriptor::CudnnDescriptor(const CudnnApi& api, DnnKind kind) : api_(api) {
  PRIMSET_CUDNN(api_, cudnnBackendCreateDescriptor, kind, &descriptor_);
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_) api_.cudnnBackendDestroyDescriptor(descriptor_);
}

void CudnnDescriptor::set_values(DnnAttribute attribute, DnnValues type, int64_t count,
                                 const void* values) {
  if (!accepted(api_.cudnnBackendSetAttribute(descriptor_, attribute, type, count, values),
                "cudnnBackendSetAttribute"))
    throw CudnnRefusal{};
}

bool CudnnDescriptor::try_finalize() {
  return accepted(api_.cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize");
}

CudnnDescriptor& CudnnDescriptor::finalize() {
  if (!try_finalize()) throw CudnnRefusal{};
  return *this;
}

int64_t CudnnDescriptor::read_values(DnnAttribute attribute, DnnValues type, int64_t most,
                                     void* values) const {
  int64_t count = 0;
  if (!accepted(api_.cudnnBackendGetAttribute(descriptor_, attribute, type, most, &count, values),
                "cudnnBackendGetAttribute"))
    return 0;
  return std::min(count, most);
}

void CudnnDescriptor::read_into(DnnAttribute attribute, CudnnDescriptor& out) const {
  if (read_values(attribute, DnnValues::descriptor, 1, &out.descriptor_) != 1) throw CudnnRefusal{};
}

std::vector<CudnnDescriptor> CudnnDescriptor::read_descriptors(DnnAttribute attribute, DnnKind kind,
                                                               int64_t most) const {
  int64_t count = 0;
  if (!accepted(api_.cudnnBackendGetAttribute(descriptor_, attribute, DnnValues::descriptor, 0,
                                              &count, nullptr),
                "cudnnBackendGetAttribute"))
    return {};
  std::vector<CudnnDescriptor> out;
  std::vector<DnnDescriptor> filled;
  for (int64_t i = 0; i < std::min(count, most); ++i)
    filled.push_back(out.emplace_back(api_, kind).get());
  const int64_t given = read_values(attribute, DnnValues::descriptor,
                                    static_cast<int64_t>(filled.size()), filled.data());
  while (static_cast<int64_t>(out.size()) > given) out.pop_back();
  return out;
}

// --- plans ---------------------------------------------------------------------------------------

CudnnPlan CudnnPlan::choose(const CudnnHandle& dnn, std::span<const CudnnDescriptor> operations,
                            const CudnnDemands& demands) {
  std::vector<DnnDescriptor> listed;
  for (const CudnnDescriptor& o : operations) listed.push_back(o.get());
  CudnnDescriptor graph(dnn.api(), DnnKind::graph);
  graph.set(DnnAttribute::graph_handle, dnn.get())
      .set(DnnAttribute::graph_operations, std::span<const DnnDescriptor>(listed))
      .finalize();
  for (const auto mode : {DnnHeuristicsMode::reckoned, DnnHeuristicsMode::fallback})
    for (const CudnnDescriptor& config : configs_of(dnn.api(), graph, mode))
      if (auto p = plan_of(dnn, config, demands))
        return CudnnPlan(std::move(p->plan), p->engine, p->workspace_bytes);
  throw CudnnRefusal{};
}

void CudnnPlan::run(const CudnnHandle& dnn, std::span<const int64_t> ids,
                    std::span<void* const> addresses, void* workspace, Stream stream) const {
  CudnnDescriptor pack(dnn.api(), DnnKind::variant_pack);
  pack.set(DnnAttribute::pack_ids, ids)
      .set(DnnAttribute::pack_addresses, addresses)
      .set(DnnAttribute::pack_workspace, workspace)
      .finalize();
  PRIMSET_CUDNN(dnn.api(), cudnnSetStream, dnn.get(), stream);
  PRIMSET_CUDNN(dnn.api(), cudnnBackendExecute, dnn.get(), plan_.get(), pack.get());
}

}  // namespace primset_cuda
