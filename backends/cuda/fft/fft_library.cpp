#include "backends/cuda/fft/fft_library.h"

#include <string>
#include <utility>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

constexpr uint64_t kFftAlignment = 256;

uint64_t aligned(uint64_t bytes) {
  return (bytes + kFftAlignment - 1) / kFftAlignment * kFftAlignment;
}

void* address(DevicePointer p) {
  return reinterpret_cast<void*>(p);
}

// The types of both sides, and the complex one that is computed in.
struct SideTypes {
  DataType in, out, computed_in;
};
SideTypes side_types(const FftShape& s) {
  const DataType complex = s.wide ? DataType::c128 : DataType::c64,
                 real = s.wide ? DataType::f64 : DataType::f32;
  return {s.kind == FftKind::to_half ? real : complex,
          s.kind == FftKind::from_half ? real : complex, complex};
}

// Depending on the version, one of these is said of what no code exists for.
bool is_refusal(FftStatus status) {
  return status == kFftInvalidValue || status == kFftInvalidSize || status == kFftNotSupported;
}

// A number whose parts count as zero, beside the copy.
constexpr uint64_t kZeroBytes = 16;

}  // namespace

// --- plans ---------------------------------------------------------------------------------------

FftPlan::FftPlan(std::shared_ptr<const CufftApi> fft) : fft_(std::move(fft)) {
  PRIMSET_CUFFT(*fft_, cufftCreate, &handle_);
}

FftPlan::~FftPlan() {
  fft_->cufftDestroy(handle_);
}

std::shared_ptr<const FftPlan> FftPlan::make(std::shared_ptr<const CufftApi> fft,
                                             const FftShape& shape) {
  const auto plan = std::make_shared<FftPlan>(std::move(fft));
  const CufftApi& api = *plan->fft_;
  PRIMSET_CUFFT(api, cufftSetAutoAllocation, plan->handle_, 0);
  FftShape s = shape;  // the library takes its arrays as if it wrote to them
  const SideTypes types = side_types(s);
  const FftStatus status = api.cufftXtMakePlanMany(
      plan->handle_, s.rank, s.sizes.data(), s.in.embed.data(), s.in.stride, s.in.distance,
      types.in, s.out.embed.data(), s.out.stride, s.out.distance, types.out, s.batch,
      &plan->workspace_bytes_, types.computed_in);
  if (is_refusal(status)) return nullptr;
  check_cufft(status, "cufftXtMakePlanMany");
  return plan;
}

FftStatus FftPlan::run(DevicePointer in, DevicePointer out, bool forward, DevicePointer workspace,
                       Stream stream) const {
  const std::lock_guard lock(mutex_);
  FftStatus status = fft_->cufftSetStream(handle_, stream);
  if (status == kFftSuccess && workspace_bytes_ > 0)
    status = fft_->cufftSetWorkArea(handle_, address(workspace));
  if (status == kFftSuccess)
    status =
        fft_->cufftXtExec(handle_, address(in), address(out), forward ? kFftForward : kFftBackward);
  return status;
}

// --- the library ---------------------------------------------------------------------------------

std::unique_ptr<FftLibrary> FftLibrary::open(primset_device_t& device) {
  const auto without = [&](const std::string& why) {
    if (!why.empty())
      primset_backend::log(device.driver->host(), PRIMSET_LOG_WARNING,
                           "cuda: " + why + "; Fourier transforms are generated kernels");
    return nullptr;
  };
  auto fft = std::make_shared<CufftApi>();
  std::string why;
  if (!fft->load(device.driver->version(), why)) return without(why);
  try {
    const RelaxedCapture relaxed(device.cu);
    const FftPlan tried(fft);
  } catch (const BackendError& e) {
    return without(e.what());  // it does not start on this device
  }
  std::unique_ptr<FftLibrary> library(new FftLibrary(device));
  library->fft_ = std::move(fft);
  return library;
}

std::shared_ptr<const FftPlan> FftLibrary::plan(const FftShape& shape) {
  const RelaxedCapture relaxed(device_.cu);
  return plans_.get(shape, [&] { return FftPlan::make(fft_, shape); });
}

uint64_t extra_bytes(const FftCall& call, const FftPlan& plan) {
  return aligned(plan.workspace_bytes()) +
         (call.copied ? aligned(call.copied_bytes) + kZeroBytes : 0);
}

void FftLibrary::run(primset_stream_t& stream, const FftCall& call,
                     const std::shared_ptr<const FftPlan>& plan, DevicePointer in,
                     DevicePointer out) const {
  std::optional<Scratch> scratch;
  const DevicePointer extra = workspace_of(stream, extra_bytes(call, *plan), scratch);
  if (stream.is_recording) stream.recorded.push_back(plan);
  if (call.copied) {
    const MatrixKernels& kernels = device_.kernels();
    const NumberType type = *number_type(call.shape.wide ? PRIMSET_C128 : PRIMSET_C64);
    const DevicePointer copy = extra + aligned(plan->workspace_bytes()),
                        zero = copy + aligned(call.copied_bytes);
    copy_strided(kernels, stream, *call.copied, copy, in, type.words);
    PRIMSET_CUDA(stream.cu, cuMemsetD8Async, zero, 0, kZeroBytes, stream.handle);
    StridedCopy imaginary = call.made_real;  // by words, of which the second half of a number is
    for (int64_t& stride : imaginary.to_strides) stride *= type.words;
    imaginary.sizes.push_back(type.part_words);
    imaginary.to_strides.push_back(1);
    imaginary.from_strides.push_back(0);
    copy_strided(kernels, stream, imaginary, copy + static_cast<uint64_t>(type.real_bytes()), zero,
                 1);
    in = copy;
  }
  run_places(stream, call, *plan, in, out, extra);
}

void FftLibrary::run_places(primset_stream_t& stream, const FftCall& call, const FftPlan& plan,
                            DevicePointer in, DevicePointer out, DevicePointer workspace) const {
  for (const FftPlace& p : call.places) {
    const FftStatus status =
        plan.run(in + static_cast<uint64_t>(p.in), out + static_cast<uint64_t>(p.out), call.forward,
                 workspace, stream.handle);
    if (status == kFftSuccess) continue;
    throw_if_lost(stream, "cufftXtExec");
    check_cufft(status, "cufftXtExec");
  }
}

}  // namespace primset_cuda
