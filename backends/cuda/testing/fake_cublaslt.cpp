#include "backends/cuda/testing/fake_cublaslt.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "backends/common/testing/bf16.h"
#include "backends/cuda/cublaslt_api.h"

namespace primset_cuda {

struct LtHandleTag {
  int device;
};
struct LtLayoutTag {
  LtType type;
  int64_t rows, cols, ld;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct LtMatmulDescTag {
  LtCompute compute;
  LtType scale;
  int32_t transpose_a = kLtPlain, transpose_b = kLtPlain;
  int32_t epilogue = 1;
  DevicePointer bias = 0;
};
struct LtPreferenceTag {
  fake_cublaslt::Preference preference;
};

}  // namespace primset_cuda

namespace fake_cublaslt {
namespace {

using namespace primset_cuda;
using fake_cuda::add_violation;

struct World {
  std::recursive_mutex mutex;
  std::set<std::unique_ptr<LtHandleTag>> handles;
  std::set<std::unique_ptr<LtLayoutTag>> layouts;
  std::set<std::unique_ptr<LtMatmulDescTag>> descs;
  std::set<std::unique_ptr<LtPreferenceTag>> preferences;
  std::map<std::string, std::pair<LtStatus, int>> failures;
  std::vector<Product> products;
  std::vector<Preference> questions;
  size_t version = 130000, workspace_bytes = 0;
  bool finds = true;
  // Whose work that waits uses a workspace, and how much of it. Nothing is called while this mutex
  // is held: work is done under the driver's.
  std::mutex workspaces_mutex;
  std::map<DevicePointer, std::pair<Stream, int>> workspaces;
};
World& world() {
  static World* instance = new World;  // the plugin may call while the process ends
  return *instance;
}

LtStatus report_violation(const std::string& text, LtStatus status = kLtInvalidValue) {
  add_violation(text);
  return status;
}

// Begins every function: answers an injected failure, and holds the mutex.
struct Call {
  explicit Call(const char* name) : lock(world().mutex), name(name) {
    const auto it = world().failures.find(name);
    if (it == world().failures.end() || it->second.second-- > 0) return;
    status = it->second.first;
    world().failures.erase(it);
  }
  template <typename T>
  Call& takes(const std::set<std::unique_ptr<T>>& all, T* handle) {
    if (status == kLtSuccess &&
        std::ranges::find(all, handle, &std::unique_ptr<T>::get) == all.end())
      status = report_violation(std::string(name) + ": no such handle");
    return *this;
  }
  template <typename T, typename... Arguments>
  void make(std::set<std::unique_ptr<T>>& all, T** out, Arguments... arguments) {
    if (status != kLtSuccess) return;
    auto made = std::make_unique<T>(arguments...);
    *out = made.get();
    all.insert(std::move(made));
  }
  template <typename T>
  void destroy(std::set<std::unique_ptr<T>>& all, T* handle) {
    takes(all, handle);
    if (status == kLtSuccess) all.erase(std::ranges::find(all, handle, &std::unique_ptr<T>::get));
  }
  std::lock_guard<std::recursive_mutex> lock;
  const char* name;
  LtStatus status = kLtSuccess;
};

// Sets a member to an attribute's value, which has the member's size.
template <typename T>
LtStatus set(T& member, const void* value, size_t bytes) {
  if (!value || bytes != sizeof(T))
    return report_violation("an attribute of " + std::to_string(bytes) + " bytes; expected " +
                            std::to_string(sizeof(T)));
  std::memcpy(&member, value, bytes);
  return kLtSuccess;
}

// --- numbers -------------------------------------------------------------------------------------

using Number = std::complex<double>;

size_t bytes_of(LtType type) {
  switch (type) {
    case LtType::i8:
      return 1;
    case LtType::f16:
    case LtType::bf16:
      return 2;
    case LtType::f32:
    case LtType::i32:
      return 4;
    case LtType::f64:
    case LtType::c64:
      return 8;
    case LtType::c128:
      return 16;
  }
  return 0;
}

template <typename T>
T read(DevicePointer at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof(value));
  return value;
}
template <typename T>
void write(T value, DevicePointer at) {
  std::memcpy(reinterpret_cast<void*>(at), &value, sizeof(value));
}

Number load(LtType type, DevicePointer at) {
  switch (type) {
    case LtType::i8:
      return read<int8_t>(at);
    case LtType::i32:
      return read<int32_t>(at);
    case LtType::f16:
      return static_cast<double>(read<_Float16>(at));
    case LtType::bf16:
      return primset_backend_test::from_bf16(read<uint16_t>(at));
    case LtType::f32:
      return read<float>(at);
    case LtType::f64:
      return read<double>(at);
    case LtType::c64:
      return read<std::complex<float>>(at);
    case LtType::c128:
      return read<Number>(at);
  }
  return 0;
}

void store(LtType type, Number x, DevicePointer at) {
  const auto real = static_cast<float>(x.real());
  switch (type) {
    case LtType::f16:
      return write(static_cast<_Float16>(real), at);
    case LtType::bf16:
      return write(primset_backend_test::to_bf16(real), at);
    case LtType::i32:
      return write(static_cast<int32_t>(x.real()), at);
    case LtType::f32:
      return write(real, at);
    case LtType::c64:
      return write(std::complex<float>(real, static_cast<float>(x.imag())), at);
    case LtType::c128:
      return write(x, at);
    default:
      return write(x.real(), at);
  }
}

// --- products ------------------------------------------------------------------------------------

struct Types {
  LtType operands, result, scale;
  std::vector<LtCompute> computes;
};
// What the library's manual lists, of the types that are used here.
const std::vector<Types>& known_types() {
  static const std::vector<Types> known = {
      {LtType::f16, LtType::f16, LtType::f32, {LtCompute::f32}},
      {LtType::f16, LtType::f32, LtType::f32, {LtCompute::f32}},
      {LtType::bf16, LtType::bf16, LtType::f32, {LtCompute::f32}},
      {LtType::bf16, LtType::f32, LtType::f32, {LtCompute::f32}},
      {LtType::f32, LtType::f32, LtType::f32, {LtCompute::f32, LtCompute::f32_by_tf32}},
      {LtType::c64, LtType::c64, LtType::c64, {LtCompute::f32, LtCompute::f32_by_tf32}},
      {LtType::f64, LtType::f64, LtType::f64, {LtCompute::f64}},
      {LtType::c128, LtType::c128, LtType::c128, {LtCompute::f64}},
      {LtType::i8, LtType::i32, LtType::i32, {LtCompute::i32}},
  };
  return known;
}

bool knows_types(const Product& p) {
  return std::ranges::any_of(known_types(), [&](const Types& t) {
    return int(t.operands) == p.type && int(t.result) == p.result_type && int(t.scale) == p.scale &&
           std::ranges::count(t.computes, LtCompute(p.compute)) > 0;
  });
}

// Complains of descriptions that contradict one another.
bool describe(const LtMatmulDescTag& desc, const LtLayoutTag& a, const LtLayoutTag& b,
              const LtLayoutTag& d, Product& p) {
  p.transpose_a = desc.transpose_a == kLtTransposed;
  p.transpose_b = desc.transpose_b == kLtTransposed;
  p.type = int(a.type);
  p.result_type = int(d.type);
  p.compute = int(desc.compute);
  p.scale = int(desc.scale);
  p.m = p.transpose_a ? a.cols : a.rows;
  p.k = p.transpose_a ? a.rows : a.cols;
  p.n = p.transpose_b ? b.rows : b.cols;
  p.lda = a.ld;
  p.ldb = b.ld;
  p.ldd = d.ld;
  p.batch = d.batch;
  p.stride_a = a.stride;
  p.stride_b = b.stride;
  p.stride_d = d.stride;
  p.bias = desc.epilogue == kLtAddBias;
  const auto wrong = [](const char* text) {
    report_violation(std::string("a product's layouts: ") + text);
    return false;
  };
  if ((p.transpose_b ? b.cols : b.rows) != p.k) return wrong("A and B differ in k");
  if (d.rows != p.m || d.cols != p.n) return wrong("D is not m x n");
  if (a.type != b.type) return wrong("A and B differ in type");
  if (a.ld < a.rows || b.ld < b.rows || d.ld < d.rows) return wrong("columns overlap");
  if (a.batch != d.batch || b.batch != d.batch) return wrong("batches differ");
  if (d.batch > 1 && d.stride < d.ld * d.cols) return wrong("D's matrices overlap");
  return true;
}

bool by_fours(const Product& p) {
  return p.m % 4 == 0 && p.k % 4 == 0 && p.lda % 4 == 0 && p.ldb % 4 == 0 && p.ldd % 4 == 0;
}

bool supports(const Product& p, const Preference& asked) {
  if (!knows_types(p)) return false;
  if (p.bias && p.type != int(LtType::f16) && p.type != int(LtType::bf16) &&
      p.type != int(LtType::f32))
    return false;
  if (p.type != int(LtType::i8)) return true;
  return p.transpose_a && !p.transpose_b && by_fours(p) && asked.align_a >= 4 &&
         asked.align_b >= 4 && asked.align_d >= 4;
}

uint64_t hash(const Product& p) {
  uint64_t h = 14695981039346656037u;
  for (const int64_t v : {int64_t{p.type}, int64_t{p.result_type}, int64_t{p.compute}, p.m, p.n,
                          p.k, int64_t{p.transpose_a}, int64_t{p.transpose_b}, p.lda, p.ldb, p.ldd,
                          p.batch, p.stride_a, p.stride_b, p.stride_d, int64_t{p.bias}})
    h = (h ^ static_cast<uint64_t>(v)) * 1099511628211u;
  return h;
}

constexpr uint64_t kMagic = 0x6c61677269746d31;

struct Addresses {
  DevicePointer a, b, d, workspace, bias;
};

size_t span_bytes(LtType type, int64_t rows, int64_t cols, int64_t ld, int64_t batch,
                  int64_t stride) {
  const int64_t last = (batch - 1) * stride + (cols - 1) * ld + rows;
  return static_cast<size_t>(last) * bytes_of(type);
}

bool in_memory(const Product& p, const Addresses& at, size_t workspace_bytes) {
  const char* function = "cublasLtMatmul";
  const auto type = LtType(p.type);
  const int64_t rows_a = p.transpose_a ? p.k : p.m, rows_b = p.transpose_b ? p.n : p.k;
  return fake_cuda::is_memory(
             function, at.a,
             span_bytes(type, rows_a, p.m * p.k / rows_a, p.lda, p.batch, p.stride_a)) &&
         fake_cuda::is_memory(
             function, at.b,
             span_bytes(type, rows_b, p.n * p.k / rows_b, p.ldb, p.batch, p.stride_b)) &&
         fake_cuda::is_memory(
             function, at.d,
             span_bytes(LtType(p.result_type), p.m, p.n, p.ldd, p.batch, p.stride_d)) &&
         (!p.bias ||
          fake_cuda::is_memory(function, at.bias,
                               static_cast<size_t>(p.m) * bytes_of(LtType(p.result_type)))) &&
         (workspace_bytes == 0 || fake_cuda::is_memory(function, at.workspace, workspace_bytes));
}

void compute(const Product& p, const Addresses& at) {
  const auto type = LtType(p.type), result = LtType(p.result_type);
  const auto place = [](DevicePointer base, int64_t elements, LtType t) {
    return base + static_cast<uint64_t>(elements) * bytes_of(t);
  };
  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t j = 0; j < p.n; ++j)
      for (int64_t i = 0; i < p.m; ++i) {
        double re = 0, im = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          const int64_t in_a = p.transpose_a ? i * p.lda + k : k * p.lda + i;
          const int64_t in_b = p.transpose_b ? k * p.ldb + j : j * p.ldb + k;
          const Number x = load(type, place(at.a, batch * p.stride_a + in_a, type));
          const Number y = load(type, place(at.b, batch * p.stride_b + in_b, type));
          re += x.real() * y.real() - x.imag() * y.imag();
          im += x.real() * y.imag() + x.imag() * y.real();
        }
        if (p.bias) re += load(result, place(at.bias, i, result)).real();
        store(result, {re, im}, place(at.d, batch * p.stride_d + j * p.ldd + i, result));
      }
}

bool is_one(LtType scale, const void* x) {
  switch (scale) {
    case LtType::i32:
      return *static_cast<const int32_t*>(x) == 1;
    case LtType::f64:
      return *static_cast<const double*>(x) == 1;
    case LtType::c128:
      return *static_cast<const Number*>(x) == 1.0;
    case LtType::c64:
      return *static_cast<const std::complex<float>*>(x) == 1.0f;
    default:
      return *static_cast<const float*>(x) == 1;
  }
}
bool is_zero(LtType scale, const void* x) {
  static const char zeros[16] = {};
  return std::memcmp(x, zeros, bytes_of(scale)) == 0;
}

// Work of two streams may overlap: each needs a workspace of its own.
bool take_workspace(DevicePointer workspace, Stream stream) {
  if (workspace == 0) return true;
  {
    const std::lock_guard lock(world().workspaces_mutex);
    auto& [user, waiting] = world().workspaces[workspace];
    if (waiting == 0 || user == stream) {
      user = stream;
      ++waiting;
      return true;
    }
  }
  report_violation("cublasLtMatmul: two streams use one workspace");
  return false;
}
void give_back_workspace(DevicePointer workspace) {
  const std::lock_guard lock(world().workspaces_mutex);
  --world().workspaces[workspace].second;
}

}  // namespace

// --- control -------------------------------------------------------------------------------------

void reset() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.handles.clear();
  w.layouts.clear();
  w.descs.clear();
  w.preferences.clear();
  w.failures.clear();
  w.workspaces.clear();
  w.products.clear();
  w.questions.clear();
  w.version = 130000;
  w.workspace_bytes = 0;
  w.finds = true;
}
void fail(const std::string& function, int status, int skip) {
  const std::lock_guard lock(world().mutex);
  world().failures[function] = {status, skip};
}
void set_version(size_t version) {
  world().version = version;
}
void find_nothing() {
  world().finds = false;
}
void need_workspace(size_t bytes) {
  world().workspace_bytes = bytes;
}

std::string leaks() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  std::string text;
  const auto add = [&](const char* what, size_t count) {
    if (count > 0) text += std::to_string(count) + " " + what + " ";
  };
  add("handles", w.handles.size());
  add("layouts", w.layouts.size());
  add("descriptors", w.descs.size());
  add("preferences", w.preferences.size());
  return text;
}
size_t descriptors() {
  const std::lock_guard lock(world().mutex);
  return world().descs.size();
}
std::vector<Product> products() {
  const std::lock_guard lock(world().mutex);
  return std::exchange(world().products, {});
}
std::vector<Preference> questions() {
  const std::lock_guard lock(world().mutex);
  return std::exchange(world().questions, {});
}

}  // namespace fake_cublaslt

using namespace primset_cuda;
using namespace fake_cublaslt;

// --- the library's functions ---------------------------------------------------------------------

#define FAKE(name) extern "C" FAKE_CUDA_EXPORT LtStatus name

extern "C" FAKE_CUDA_EXPORT size_t cublasLtGetVersion() {
  return world().version;
}
extern "C" FAKE_CUDA_EXPORT const char* cublasLtGetStatusName(LtStatus status) {
  return status == kLtNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_FAKE";
}

FAKE(cublasLtCreate)(LtHandle* handle) {
  Call call(__func__);
  if (fake_cuda::current_device() < 0)
    return report_violation("cublasLtCreate without a current context");
  if (!fake_cuda::outside_capture(__func__)) return kLtInternalError;
  call.make(world().handles, handle, fake_cuda::current_device());
  return call.status;
}
FAKE(cublasLtDestroy)(LtHandle handle) {
  Call call(__func__);
  call.takes(world().handles, handle);
  if (call.status == kLtSuccess && handle->device != fake_cuda::current_device())
    report_violation("cublasLtDestroy in another device's context");
  call.destroy(world().handles, handle);
  return call.status;
}

FAKE(cublasLtMatmulDescCreate)(LtMatmulDesc* desc, LtCompute compute, LtType scale) {
  Call call(__func__);
  call.make(world().descs, desc, compute, scale);
  return call.status;
}
FAKE(cublasLtMatmulDescDestroy)(LtMatmulDesc desc) {
  Call call(__func__);
  call.destroy(world().descs, desc);
  return call.status;
}
FAKE(cublasLtMatmulDescSetAttribute)(LtMatmulDesc desc, LtMatmulAttribute attribute,
                                     const void* value, size_t bytes) {
  Call call(__func__);
  if (call.takes(world().descs, desc).status != kLtSuccess) return call.status;
  switch (attribute) {
    case LtMatmulAttribute::transpose_a:
      return set(desc->transpose_a, value, bytes);
    case LtMatmulAttribute::transpose_b:
      return set(desc->transpose_b, value, bytes);
    case LtMatmulAttribute::epilogue:
      return set(desc->epilogue, value, bytes);
    case LtMatmulAttribute::bias:
      return set(desc->bias, value, bytes);
  }
  return report_violation("an unknown attribute of a product");
}

FAKE(cublasLtMatrixLayoutCreate)(LtLayout* layout, LtType type, uint64_t rows, uint64_t cols,
                                 int64_t ld) {
  Call call(__func__);
  if (rows == 0 || cols == 0) return report_violation("an empty layout");
  call.make(world().layouts, layout, type, static_cast<int64_t>(rows), static_cast<int64_t>(cols),
            ld);
  return call.status;
}
FAKE(cublasLtMatrixLayoutDestroy)(LtLayout layout) {
  Call call(__func__);
  call.destroy(world().layouts, layout);
  return call.status;
}
FAKE(cublasLtMatrixLayoutSetAttribute)(LtLayout layout, LtLayoutAttribute attribute,
                                       const void* value, size_t bytes) {
  Call call(__func__);
  if (call.takes(world().layouts, layout).status != kLtSuccess) return call.status;
  switch (attribute) {
    case LtLayoutAttribute::batch_count:
      return set(layout->batch, value, bytes);
    case LtLayoutAttribute::batch_stride:
      return set(layout->stride, value, bytes);
  }
  return report_violation("an unknown attribute of a layout");
}

FAKE(cublasLtMatmulPreferenceCreate)(LtPreference* preference) {
  Call call(__func__);
  call.make(world().preferences, preference);
  return call.status;
}
FAKE(cublasLtMatmulPreferenceDestroy)(LtPreference preference) {
  Call call(__func__);
  call.destroy(world().preferences, preference);
  return call.status;
}
FAKE(cublasLtMatmulPreferenceSetAttribute)(LtPreference preference, LtPreferenceAttribute attribute,
                                           const void* value, size_t bytes) {
  Call call(__func__);
  if (call.takes(world().preferences, preference).status != kLtSuccess) return call.status;
  Preference& p = preference->preference;
  switch (attribute) {
    case LtPreferenceAttribute::max_workspace_bytes:
      return set(p.max_workspace_bytes, value, bytes);
    case LtPreferenceAttribute::reduction_schemes:
      return set(p.reduction_schemes, value, bytes);
    case LtPreferenceAttribute::min_alignment_a:
      return set(p.align_a, value, bytes);
    case LtPreferenceAttribute::min_alignment_b:
      return set(p.align_b, value, bytes);
    case LtPreferenceAttribute::min_alignment_c:
      return set(p.align_c, value, bytes);
    case LtPreferenceAttribute::min_alignment_d:
      return set(p.align_d, value, bytes);
    case LtPreferenceAttribute::implementations:
      return set(p.implementations, value, bytes);
  }
  return report_violation("an unknown preference");
}

FAKE(cublasLtMatmulAlgoGetHeuristic)(LtHandle handle, LtMatmulDesc desc, LtLayout a, LtLayout b,
                                     LtLayout c, LtLayout d, LtPreference preference, int asked,
                                     LtHeuristic* found, int* count) {
  Call call(__func__);
  World& w = world();
  call.takes(w.handles, handle).takes(w.descs, desc).takes(w.preferences, preference);
  for (LtLayout layout : {a, b, c, d}) call.takes(w.layouts, layout);
  if (call.status != kLtSuccess) return call.status;
  if (!fake_cuda::outside_capture(__func__)) return kLtInternalError;
  *count = 0;
  Product p;
  if (!describe(*desc, *a, *b, *d, p)) return kLtInvalidValue;
  const Preference& ask = preference->preference;
  w.questions.push_back(ask);
  if (!w.finds || !supports(p, ask)) return kLtNotSupported;
  const uint64_t alignments = ask.align_a | uint64_t{ask.align_b} << 16 |
                              uint64_t{ask.align_c} << 32 | uint64_t{ask.align_d} << 48;
  if (asked > 1) found[(*count)++] = {{}, 0, kLtNotSupported, 0, {}};
  if (w.workspace_bytes <= ask.max_workspace_bytes)
    found[(*count)++] = {
        {{kMagic, hash(p), alignments, w.workspace_bytes}}, w.workspace_bytes, kLtSuccess, 1, {}};
  return kLtSuccess;
}

FAKE(cublasLtMatmul)(LtHandle handle, LtMatmulDesc desc, const void* alpha, const void* a,
                     LtLayout a_layout, const void* b, LtLayout b_layout, const void* beta,
                     const void* c, LtLayout c_layout, void* d, LtLayout d_layout,
                     const LtAlgorithm* algorithm, void* workspace, size_t bytes, Stream stream) {
  Call call(__func__);
  World& w = world();
  call.takes(w.handles, handle).takes(w.descs, desc);
  for (LtLayout layout : {a_layout, b_layout, c_layout, d_layout}) call.takes(w.layouts, layout);
  if (call.status != kLtSuccess) return call.status;
  if (handle->device != fake_cuda::current_device())
    return report_violation("cublasLtMatmul in another device's context");
  Product p;
  if (!describe(*desc, *a_layout, *b_layout, *d_layout, p)) return kLtInvalidValue;
  if (algorithm->data[0] != kMagic || algorithm->data[1] != hash(p))
    return report_violation("cublasLtMatmul: an algorithm that no heuristic gave for this product");
  const auto address = [](const void* p) { return reinterpret_cast<DevicePointer>(p); };
  const Addresses at{address(a), address(b), address(d), address(workspace), desc->bias};
  const DevicePointer addresses[] = {at.a, at.b, address(c), at.d};
  for (int i = 0; i < 4; ++i)
    if (addresses[i] % (algorithm->data[2] >> 16 * i & 0xffff) != 0)
      return report_violation("cublasLtMatmul: memory less aligned than the heuristic was told");
  const size_t needed = algorithm->data[3];
  if (bytes < needed || (needed > 0 && at.workspace % 16 != 0))
    return report_violation("cublasLtMatmul: too little workspace, or not aligned");
  if (!is_one(desc->scale, alpha) || !is_zero(desc->scale, beta))
    return report_violation("cublasLtMatmul: the factors are not 1 and 0");
  if (c != d || c_layout != d_layout) return report_violation("cublasLtMatmul: C is not D");
  if (!in_memory(p, at, bytes) || !take_workspace(at.workspace, stream)) return kLtInvalidValue;
  const bool given = fake_cuda::give_work("cublasLtMatmul", stream, [=] {
    if (at.workspace) give_back_workspace(at.workspace);
    if (in_memory(p, at, bytes)) compute(p, at);
  });
  if (!given) return kLtExecutionFailed;
  w.products.push_back(p);
  return kLtSuccess;
}
