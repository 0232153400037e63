#include "backends/cuda/convolution/convolution_library.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

using primset_backend::ConvolutionKind;

// An algorithm that needs more memory is not taken, however much is free.
constexpr size_t kMostConvolutionBytes = size_t{256} << 20;

// Algorithms that add products up as they are. Those by way of Fourier's or Winograd's transforms
// make NaN of an infinity's neighbours, and errors of a size that is not the terms'.
constexpr int kForward[] = {0, 1, 2};  // implicit GEMM, with indices made before, GEMM
constexpr int kBackward[] = {1};       // deterministic ones, of images and of filters

bool adds_products(ConvolutionKind kind, int algorithm) {
  const auto known = kind == ConvolutionKind::places ? std::span<const int>(kForward)
                                                     : std::span<const int>(kBackward);
  return std::ranges::find(known, algorithm) != known.end();
}

void* pointer(DevicePointer p) {
  return reinterpret_cast<void*>(p);
}

// The library's 1 and 0, in the type that it scales by.
struct Scales {
  float one = 1, zero = 0;
  double wide_one = 1, wide_zero = 0;
};
constexpr Scales kScales;

// Success, or that there is no code; throws for anything else.
bool accepted(DnnStatus status, const char* function) {
  if (is_cudnn_refusal(status)) return false;
  check_cudnn(status, function);
  return true;
}

}  // namespace

// --- the handle ----------------------------------------------------------------------------------

CudnnHandle::CudnnHandle(std::shared_ptr<const CudnnApi> api) : api_(std::move(api)) {
  PRIMSET_CUDNN(*api_, cudnnCreate, &handle_);
}

CudnnHandle::~CudnnHandle() {
  api_->cudnnDestroy(handle_);
}

// --- plans ---------------------------------------------------------------------------------------

ConvolutionPlan::ConvolutionPlan(std::shared_ptr<const CudnnHandle> dnn) : dnn_(std::move(dnn)) {}

ConvolutionPlan::~ConvolutionPlan() {
  const CudnnApi& api = dnn_->api();
  for (DnnTensor t : {x_, y_, bias_})
    if (t) api.cudnnDestroyTensorDescriptor(t);
  if (w_) api.cudnnDestroyFilterDescriptor(w_);
  if (windows_) api.cudnnDestroyConvolutionDescriptor(windows_);
}

std::shared_ptr<const ConvolutionPlan> ConvolutionPlan::make(std::shared_ptr<const CudnnHandle> dnn,
                                                             const ConvolutionShape& shape) {
  const auto plan = std::make_shared<ConvolutionPlan>(std::move(dnn));
  const std::lock_guard lock(plan->dnn_->mutex());
  return plan->describe(shape) && plan->describe_bias(shape) && plan->choose() ? plan : nullptr;
}

bool ConvolutionPlan::describe(const ConvolutionShape& s) {
  const CudnnApi& api = dnn_->api();
  kind_ = s.kind;
  wide_ = s.type == DnnType::f64;
  halves_ = s.type == DnnType::f16 || s.type == DnnType::bf16;
  const auto tensor = [&](DnnTensor& t, const std::array<int, 5>& sizes) {
    PRIMSET_CUDNN(api, cudnnCreateTensorDescriptor, &t);
    std::array<int, 5> strides{};
    int step = 1;
    for (int d = s.rank; d-- > 0;) {
      strides[static_cast<size_t>(d)] = step;
      step *= sizes[static_cast<size_t>(d)];
    }
    return accepted(api.cudnnSetTensorNdDescriptor(t, s.type, s.rank, sizes.data(), strides.data()),
                    "cudnnSetTensorNdDescriptor");
  };
  if (!tensor(x_, s.x) || !tensor(y_, s.y)) return false;
  PRIMSET_CUDNN(api, cudnnCreateFilterDescriptor, &w_);
  PRIMSET_CUDNN(api, cudnnCreateConvolutionDescriptor, &windows_);
  // Halves are added up in f32, and f32 without being cut to TF32.
  const DnnType sums = wide_ ? DnnType::f64 : DnnType::f32;
  return accepted(api.cudnnSetFilterNdDescriptor(w_, s.type, kDnnRowMajor, s.rank, s.w.data()),
                  "cudnnSetFilterNdDescriptor") &&
         accepted(api.cudnnSetConvolutionNdDescriptor(windows_, s.rank - 2, s.padding.data(),
                                                      s.stride.data(), s.dilation.data(),
                                                      kDnnCrossCorrelation, sums),
                  "cudnnSetConvolutionNdDescriptor") &&
         accepted(api.cudnnSetConvolutionGroupCount(windows_, s.groups),
                  "cudnnSetConvolutionGroupCount") &&
         accepted(
             api.cudnnSetConvolutionMathType(windows_, halves_ ? DnnMath::tensor_op : DnnMath::fma),
             "cudnnSetConvolutionMathType");
}

// A number for each channel, the same at all places.
bool ConvolutionPlan::describe_bias(const ConvolutionShape& s) {
  has_bias_ = s.bias;
  if (!has_bias_) return true;
  const int channels = s.result()[1];
  const int sizes[] = {1, channels, 1, 1, 1}, strides[] = {channels, 1, 1, 1, 1};
  PRIMSET_CUDNN(dnn_->api(), cudnnCreateTensorDescriptor, &bias_);
  return accepted(dnn_->api().cudnnSetTensorNdDescriptor(bias_, s.type, s.rank, sizes, strides),
                  "cudnnSetTensorNdDescriptor");
}

DnnStatus ConvolutionPlan::list_choices(int wanted, int* given, DnnChoice* choices) const {
  const CudnnApi& api = dnn_->api();
  switch (kind_) {
    case ConvolutionKind::places:
      return api.cudnnGetConvolutionForwardAlgorithm_v7(dnn_->get(), x_, w_, windows_, y_, wanted,
                                                        given, choices);
    case ConvolutionKind::images:
      return api.cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn_->get(), w_, y_, windows_, x_,
                                                             wanted, given, choices);
    default:
      return api.cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn_->get(), x_, y_, windows_, w_,
                                                               wanted, given, choices);
  }
}

DnnStatus ConvolutionPlan::ask_workspace(size_t* bytes) const {
  const CudnnApi& api = dnn_->api();
  switch (kind_) {
    case ConvolutionKind::places:
      return api.cudnnGetConvolutionForwardWorkspaceSize(dnn_->get(), x_, w_, windows_, y_,
                                                         algorithm_, bytes);
    case ConvolutionKind::images:
      return api.cudnnGetConvolutionBackwardDataWorkspaceSize(dnn_->get(), w_, y_, windows_, x_,
                                                              algorithm_, bytes);
    default:
      return api.cudnnGetConvolutionBackwardFilterWorkspaceSize(dnn_->get(), x_, y_, windows_, w_,
                                                                algorithm_, bytes);
  }
}

// The fastest by the library's own reckoning that gives the same bits each time. The reckoning
// looks at the shape alone.
bool ConvolutionPlan::choose() {
  constexpr int kMostChoices = 16;
  DnnChoice choices[kMostChoices] = {};
  int count = 0;
  if (!accepted(list_choices(kMostChoices, &count, choices), "cudnnGetConvolutionAlgorithm_v7"))
    return false;
  for (const DnnChoice& c : std::span(choices).first(static_cast<size_t>(count))) {
    if (c.status != kDnnSuccess || c.determinism != kDnnDeterministic ||
        c.memory > kMostConvolutionBytes || !adds_products(kind_, c.algorithm))
      continue;
    algorithm_ = c.algorithm;
    // Of f32 the list may name math that cuts it to TF32 on newer devices.
    const DnnMath math = halves_ ? c.math : DnnMath::fma;
    if (!accepted(dnn_->api().cudnnSetConvolutionMathType(windows_, math),
                  "cudnnSetConvolutionMathType") ||
        !accepted(ask_workspace(&workspace_bytes_), "cudnnGetConvolutionWorkspaceSize"))
      continue;
    if (workspace_bytes_ <= kMostConvolutionBytes) return true;
  }
  return false;
}

DnnStatus ConvolutionPlan::enqueue(const ConvolutionMemory& m, DevicePointer workspace,
                                   const void* one, const void* kept) const {
  const CudnnApi& api = dnn_->api();
  void* const room = pointer(workspace);
  switch (kind_) {
    case ConvolutionKind::places:
      return api.cudnnConvolutionForward(dnn_->get(), one, x_, pointer(m.x), w_, pointer(m.w),
                                         windows_, algorithm_, room, workspace_bytes_, kept, y_,
                                         pointer(m.y));
    case ConvolutionKind::images:
      return api.cudnnConvolutionBackwardData(dnn_->get(), one, w_, pointer(m.w), y_, pointer(m.y),
                                              windows_, algorithm_, room, workspace_bytes_, kept,
                                              x_, pointer(m.x));
    default:
      return api.cudnnConvolutionBackwardFilter(dnn_->get(), one, x_, pointer(m.x), y_,
                                                pointer(m.y), windows_, algorithm_, room,
                                                workspace_bytes_, kept, w_, pointer(m.w));
  }
}

// The bias is laid out first and the sums are added to it, so that halves are rounded once.
void ConvolutionPlan::run(const ConvolutionMemory& m, DevicePointer workspace,
                          Stream stream) const {
  const CudnnApi& api = dnn_->api();
  const void* one = wide_ ? static_cast<const void*>(&kScales.wide_one) : &kScales.one;
  const void* zero = wide_ ? static_cast<const void*>(&kScales.wide_zero) : &kScales.zero;
  const std::lock_guard lock(dnn_->mutex());
  PRIMSET_CUDNN(api, cudnnSetStream, dnn_->get(), stream);
  if (has_bias_) {
    const bool by_places = kind_ == ConvolutionKind::places;
    PRIMSET_CUDNN(api, cudnnAddTensor, dnn_->get(), one, bias_, pointer(m.bias), zero,
                  by_places ? y_ : x_, pointer(by_places ? m.y : m.x));
  }
  check_cudnn(enqueue(m, workspace, one, has_bias_ ? one : zero), "cudnnConvolution");
}

// --- the library ---------------------------------------------------------------------------------

std::unique_ptr<ConvolutionLibrary> ConvolutionLibrary::open(primset_device_t& device) {
  const auto without = [&](const std::string& why) {
    if (!why.empty())
      primset_backend::log(device.driver->host(), PRIMSET_LOG_WARNING,
                           "cuda: " + why + "; convolutions are generated kernels");
    return nullptr;
  };
  auto api = std::make_shared<CudnnApi>();
  std::string why;
  if (!api->load(device.driver->version(), why)) return without(why);
  std::unique_ptr<ConvolutionLibrary> library(new ConvolutionLibrary(device));
  try {
    const RelaxedCapture relaxed(device.cu);
    library->dnn_ = std::make_shared<CudnnHandle>(std::move(api));
  } catch (const BackendError& e) {
    return without(e.what());  // it does not start on this device
  }
  return library;
}

std::shared_ptr<const ConvolutionPlan> ConvolutionLibrary::plan(const ConvolutionShape& shape) {
  const RelaxedCapture relaxed(device_.cu);
  return plans_.get(shape, [&] { return ConvolutionPlan::make(dnn_, shape); });
}

// Up to kWorkspaceBytes a workspace is the stream's own, which stays where it is, so that the call
// may be part of a recording.
void ConvolutionLibrary::run(primset_stream_t& stream,
                             const std::shared_ptr<const ConvolutionPlan>& plan,
                             const ConvolutionMemory& memory) const {
  const uint64_t bytes = plan->workspace_bytes();
  std::optional<Scratch> scratch;
  DevicePointer workspace = 0;
  if (bytes > kWorkspaceBytes)
    workspace = scratch.emplace(stream).take(bytes);
  else if (bytes > 0)
    workspace = stream.workspace();
  if (stream.is_recording) stream.recorded.push_back(plan);
  plan->run(memory, workspace, stream.handle);
}

}  // namespace primset_cuda
