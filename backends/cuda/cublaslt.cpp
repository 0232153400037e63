#include "backends/cuda/cublaslt.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

// How many ways the library is asked for; the first that it can do is taken.
constexpr int kAskedWays = 4;

[[noreturn]] void lt_fail(const CublasLtApi& lt, LtStatus status, const char* function) {
  const char* name = lt.cublasLtGetStatusName(status);
  throw BackendError(status == kLtAllocFailed ? PRIMSET_OUT_OF_MEMORY : PRIMSET_INTERNAL,
                     std::string(function) + ": " + (name ? name : "unknown status") + " (" +
                         std::to_string(status) + ")");
}

void lt_check(const CublasLtApi& lt, LtStatus status, const char* function) {
  if (status != kLtSuccess) [[unlikely]]
    lt_fail(lt, status, function);
}

#define PRIMSET_CUBLASLT(lt, function, ...) lt_check((lt), (lt).function(__VA_ARGS__), #function)

// --- types ---------------------------------------------------------------------------------------

LtType lt_type(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_I8:
      return LtType::i8;
    case PRIMSET_I32:
      return LtType::i32;
    case PRIMSET_F16:
      return LtType::f16;
    case PRIMSET_BF16:
      return LtType::bf16;
    case PRIMSET_F64:
      return LtType::f64;
    case PRIMSET_C64:
      return LtType::c64;
    case PRIMSET_C128:
      return LtType::c128;
    default:
      return LtType::f32;
  }
}

bool is_complex(uint32_t dtype) {
  return dtype == PRIMSET_C64 || dtype == PRIMSET_C128;
}

LtCompute compute_type(uint32_t dtype, bool tf32) {
  switch (dtype) {
    case PRIMSET_I8:
      return LtCompute::i32;
    case PRIMSET_F64:
    case PRIMSET_C128:
      return LtCompute::f64;
    case PRIMSET_F32:
    case PRIMSET_C64:
      return tf32 ? LtCompute::f32_by_tf32 : LtCompute::f32;
    default:
      return LtCompute::f32;
  }
}

// The type of the factors 1 and 0 of the product and of what D held.
LtType scale_type(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_I8:
      return LtType::i32;
    case PRIMSET_F16:
    case PRIMSET_BF16:
      return LtType::f32;
    default:
      return lt_type(dtype);
  }
}

const void* one(uint32_t dtype) {
  static constexpr int32_t kI32 = 1;
  static constexpr float kF32[] = {1, 0};
  static constexpr double kF64[] = {1, 0};
  switch (scale_type(dtype)) {
    case LtType::i32:
      return &kI32;
    case LtType::f64:
    case LtType::c128:
      return kF64;
    default:
      return kF32;
  }
}

const void* zero() {
  static constexpr double kZeros[] = {0, 0};
  return kZeros;
}

}  // namespace

// --- plans ---------------------------------------------------------------------------------------

MatmulPlan::Layout MatmulPlan::layout(LtType type, int64_t rows, int64_t cols, int64_t ld,
                                      int64_t stride) const {
  LtLayout handle = nullptr;
  PRIMSET_CUBLASLT(lt_, cublasLtMatrixLayoutCreate, &handle, type, static_cast<uint64_t>(rows),
                   static_cast<uint64_t>(cols), ld);
  Layout made(handle, lt_.cublasLtMatrixLayoutDestroy);
  if (shape_.batch == 1) return made;
  const auto count = static_cast<int32_t>(shape_.batch);
  PRIMSET_CUBLASLT(lt_, cublasLtMatrixLayoutSetAttribute, handle, LtLayoutAttribute::batch_count,
                   &count, sizeof(count));
  PRIMSET_CUBLASLT(lt_, cublasLtMatrixLayoutSetAttribute, handle, LtLayoutAttribute::batch_stride,
                   &stride, sizeof(stride));
  return made;
}

MatmulPlan::MatmulPlan(const CublasLtApi& lt, const MatmulShape& s, bool tf32)
    : lt_(lt),
      shape_(s),
      compute_(compute_type(s.dtype, tf32)),
      desc_(describe()),
      a_(layout(lt_type(s.dtype), s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.lda,
                s.stride_a)),
      b_(layout(lt_type(s.dtype), s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.ldb,
                s.stride_b)),
      d_(layout(lt_type(s.result), s.m, s.n, s.m, s.stride_d)) {}

MatmulPlan::Desc MatmulPlan::describe() const {
  LtMatmulDesc handle = nullptr;
  PRIMSET_CUBLASLT(lt_, cublasLtMatmulDescCreate, &handle, compute_, scale_type(shape_.dtype));
  Desc desc(handle, lt_.cublasLtMatmulDescDestroy);
  const auto set = [&](LtMatmulAttribute attribute, int32_t value) {
    PRIMSET_CUBLASLT(lt_, cublasLtMatmulDescSetAttribute, handle, attribute, &value, sizeof(value));
  };
  set(LtMatmulAttribute::transpose_a, shape_.transpose_a ? kLtTransposed : kLtPlain);
  set(LtMatmulAttribute::transpose_b, shape_.transpose_b ? kLtTransposed : kLtPlain);
  if (shape_.bias) set(LtMatmulAttribute::epilogue, kLtAddBias);
  return desc;
}

// The library's first choice among what gives the same bits each time, in the accuracy that a sum
// has, with the memory there is.
bool MatmulPlan::choose(LtHandle handle) {
  LtPreference preference = nullptr;
  PRIMSET_CUBLASLT(lt_, cublasLtMatmulPreferenceCreate, &preference);
  const Owned<LtPreferenceTag> owned(preference, lt_.cublasLtMatmulPreferenceDestroy);
  const auto prefer = [&](LtPreferenceAttribute attribute, const auto& value) {
    PRIMSET_CUBLASLT(lt_, cublasLtMatmulPreferenceSetAttribute, preference, attribute, &value,
                     sizeof(value));
  };
  prefer(LtPreferenceAttribute::max_workspace_bytes, kWorkspaceBytes);
  prefer(LtPreferenceAttribute::reduction_schemes, kLtSumInComputeType);
  prefer(LtPreferenceAttribute::min_alignment_a, shape_.align_a);
  prefer(LtPreferenceAttribute::min_alignment_b, shape_.align_b);
  prefer(LtPreferenceAttribute::min_alignment_c, shape_.align_d);
  prefer(LtPreferenceAttribute::min_alignment_d, shape_.align_d);
  // By three products the smaller part of a complex number loses digits.
  if (is_complex(shape_.dtype)) prefer(LtPreferenceAttribute::implementations, ~kLtGaussian);

  LtHeuristic ways[kAskedWays] = {};
  int count = 0;
  const LtStatus status =
      lt_.cublasLtMatmulAlgoGetHeuristic(handle, desc_.get(), a_.get(), b_.get(), d_.get(),
                                         d_.get(), preference, kAskedWays, ways, &count);
  // Depending on the version, either is said of what no code exists for.
  if (status == kLtNotSupported || status == kLtInvalidValue) return false;
  lt_check(lt_, status, "cublasLtMatmulAlgoGetHeuristic");
  for (int i = 0; i < count; ++i) {
    if (ways[i].state != kLtSuccess || ways[i].workspace_bytes > kWorkspaceBytes) continue;
    algorithm_ = ways[i].algorithm;
    workspace_bytes_ = ways[i].workspace_bytes;
    return true;
  }
  return false;
}

std::shared_ptr<const MatmulPlan> MatmulPlan::make(const CublasLtApi& lt, LtHandle handle,
                                                   const MatmulShape& shape, bool tf32) {
  const std::shared_ptr<MatmulPlan> plan(new MatmulPlan(lt, shape, tf32));
  return plan->choose(handle) ? plan : nullptr;
}

LtStatus MatmulPlan::run(LtHandle handle, const MatmulAddresses& at, DevicePointer workspace,
                         Stream stream) const {
  // The bias is no argument of a call but part of what describes it: threads do not share that.
  Desc own(nullptr, lt_.cublasLtMatmulDescDestroy);
  if (shape_.bias) {
    own = describe();
    PRIMSET_CUBLASLT(lt_, cublasLtMatmulDescSetAttribute, own.get(), LtMatmulAttribute::bias,
                     &at.bias, sizeof(at.bias));
  }
  const auto pointer = [](DevicePointer p) { return reinterpret_cast<void*>(p); };
  return lt_.cublasLtMatmul(handle, own ? own.get() : desc_.get(), one(shape_.dtype), pointer(at.a),
                            a_.get(), pointer(at.b), b_.get(), zero(), pointer(at.d), d_.get(),
                            pointer(at.d), d_.get(), &algorithm_, pointer(workspace),
                            workspace ? kWorkspaceBytes : 0, stream);
}

// --- the library ---------------------------------------------------------------------------------

MatrixLibrary::Settings MatrixLibrary::settings() {
  Settings s;
  const char* tf32 = std::getenv("PRIMSET_CUDA_TF32");
  s.tf32 = tf32 && std::string_view(tf32) == "1";
  if (const char* least = std::getenv("PRIMSET_CUBLASLT_LEAST"); least && *least)
    s.min_multiplications = std::strtoull(least, nullptr, 10);
  return s;
}

std::unique_ptr<MatrixLibrary> MatrixLibrary::open(const primset_device_t& device) {
  const primset_host* host = device.driver->host();
  constexpr const char* kInstead = "; matrix products are generated kernels";
  CublasLtApi lt;
  std::string why;
  if (!lt.load(device.driver->version(), why)) {
    if (!why.empty()) primset_backend::log(host, PRIMSET_LOG_WARNING, "cuda: " + why + kInstead);
    return nullptr;
  }
  std::unique_ptr<MatrixLibrary> library(new MatrixLibrary(device.cu, lt));
  try {
    const RelaxedCapture relaxed(device.cu);
    PRIMSET_CUBLASLT(lt, cublasLtCreate, &library->handle_);
  } catch (const BackendError& e) {
    primset_backend::log(host, PRIMSET_LOG_WARNING, std::string("cuda: ") + e.what() + kInstead);
    return nullptr;
  }
  return library;
}

MatrixLibrary::~MatrixLibrary() {
  plans_.clear();
  if (handle_) lt_.cublasLtDestroy(handle_);
}

std::shared_ptr<const MatmulPlan> MatrixLibrary::plan(const MatmulShape& shape) {
  return plans_.get(shape, [&] {
    const RelaxedCapture relaxed(cu_);
    return MatmulPlan::make(lt_, handle_, shape, settings_.tf32);
  });
}

void MatrixLibrary::run(primset_stream_t& stream, const MatmulPlan& plan,
                        const MatmulAddresses& at) const {
  const DevicePointer workspace = plan.needs_workspace() ? stream.workspace() : 0;
  const LtStatus status = plan.run(handle_, at, workspace, stream.handle);
  if (status == kLtSuccess) [[likely]]
    return;
  throw_if_lost(stream, "cublasLtMatmul");
  lt_fail(lt_, status, "cublasLtMatmul");
}

}  // namespace primset_cuda
