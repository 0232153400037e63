#include "backends/cpu/onednn_matmul.h"

#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/common/blocked_signals.h"

namespace primset_cpu {
namespace {

// Memory that is kept for the next call, of each use that a thread has for it.
constexpr size_t kMostKept = size_t{64} << 20;

// Shapes remembered at most; then all are forgotten, which costs a few milliseconds.
constexpr size_t kMaxRemembered = 4096;

struct ShapeHash {
  size_t operator()(const MatmulShape& s) const {
    size_t h = static_cast<size_t>(s.dtype);
    for (int64_t v : {s.m, s.n, s.k, s.a_rows, s.a_cols, s.b_rows, s.b_cols, s.c_rows})
      h = (h ^ static_cast<size_t>(v)) * 0x9e3779b97f4a7c15 + (h >> 29);
    return h;
  }
};

class Remembered {
 public:
  std::shared_ptr<const Matmul> find(const MatmulShape& shape, bool& known) {
    const std::lock_guard lock(mutex_);
    const auto it = matmuls_.find(shape);
    known = it != matmuls_.end();
    return known ? it->second : nullptr;
  }
  void add(const MatmulShape& shape, std::shared_ptr<const Matmul> matmul) {
    const std::lock_guard lock(mutex_);
    if (matmuls_.size() >= kMaxRemembered) matmuls_.clear();
    matmuls_[shape] = std::move(matmul);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<MatmulShape, std::shared_ptr<const Matmul>, ShapeHash> matmuls_;
};

Remembered& remembered() {
  static Remembered r;
  return r;
}

struct IdleScratch {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadScratch>> idle;
};

// Never destroyed: oneDNN may be gone before it.
IdleScratch& idle_scratch() {
  static auto* const w = new IdleScratch;
  return *w;
}

}  // namespace

std::shared_ptr<const Matmul> Matmul::get(const OneDnn& dnn, const MatmulShape& shape) {
  bool known = false;
  if (std::shared_ptr<const Matmul> found = remembered().find(shape, known); known) return found;
  const primset_backend::BlockedSignals scope;  // OpenMP may start its threads here
  const OneThread one(dnn);
  std::shared_ptr<Matmul> made(new Matmul(dnn));
  if (!made->create(shape)) made.reset();
  remembered().add(shape, made);
  return made;
}

Matmul::~Matmul() {
  if (primitive_) dnn_.dnnl_primitive_destroy(primitive_);
}

bool Matmul::create(const MatmulShape& s) {
  const auto describe = [&](dnnl_memory_desc_t& md, int64_t rows, int64_t cols, dnnl_data_type_t t,
                            int64_t row_stride, int64_t col_stride) {
    const dnnl_dims_t sizes = {rows, cols}, strides = {row_stride, col_stride};
    return dnn_.dnnl_memory_desc_init_by_strides(&md, 2, sizes, t, strides) == dnnl_success;
  };
  if (!describe(a_, s.m, s.k, s.dtype, s.a_rows, s.a_cols) ||
      !describe(b_, s.k, s.n, s.dtype, s.b_rows, s.b_cols) ||
      !describe(c_, s.m, s.n, s.dtype == dnnl_s8 ? dnnl_s32 : dnnl_f32, s.c_rows, 1))
    return false;
  dnnl_matmul_desc_t desc;
  if (dnn_.dnnl_matmul_desc_init(&desc, &a_, &b_, nullptr, &c_) != dnnl_success) return false;
  dnnl_primitive_attr_t attr = nullptr;
  if (dnn_.dnnl_primitive_attr_create(&attr) != dnnl_success) return false;
  // Scratch memory of our own: oneDNN's is tied to the thread that made the primitive.
  dnn_.dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  dnnl_primitive_desc_t pd = nullptr;
  const dnnl_status_t status =
      dnn_.dnnl_primitive_desc_create(&pd, &desc, attr, dnn_.engine, nullptr);
  dnn_.dnnl_primitive_attr_destroy(attr);
  if (status != dnnl_success) return false;
  const char* code = nullptr;
  batched_kernel_ =
      dnn_.dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &code) == dnnl_success &&
      std::string_view(code).starts_with("brg");
  if (const dnnl_memory_desc_t* md =
          dnn_.dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0)) {
    scratch_ = *md;
    scratch_bytes_ = dnn_.dnnl_memory_desc_get_size(md);
  }
  const bool made = dnn_.dnnl_primitive_create(&primitive_, pd) == dnnl_success;
  dnn_.dnnl_primitive_desc_destroy(pd);
  return made;
}

std::unique_ptr<ThreadScratch> ThreadScratch::take(const OneDnn& dnn) {
  {
    const std::lock_guard lock(idle_scratch().mutex);
    auto& idle = idle_scratch().idle;
    if (!idle.empty()) {
      std::unique_ptr<ThreadScratch> scratch = std::move(idle.back());
      idle.pop_back();
      return scratch;
    }
  }
  std::unique_ptr<ThreadScratch> made(new ThreadScratch(dnn));
  if (dnn.dnnl_stream_create(&made->stream_, dnn.engine, dnnl_stream_default_flags) != dnnl_success)
    throw std::bad_alloc();
  return made;
}

void ThreadScratch::give_back(std::unique_ptr<ThreadScratch> scratch) {
  for (Memory& m : scratch->memory_)
    if (m.bytes > kMostKept) m = {};
  const std::lock_guard lock(idle_scratch().mutex);
  idle_scratch().idle.push_back(std::move(scratch));
}

ThreadScratch::~ThreadScratch() {
  if (stream_) dnn_.dnnl_stream_destroy(stream_);
}

void* ThreadScratch::memory(Space space, size_t bytes) {
  constexpr size_t kAlignment = 64;
  Memory& m = memory_[space];
  if (m.bytes < bytes) {
    m = {};  // freed before the larger one is made
    m.data.reset(new char[bytes + kAlignment]);
    m.bytes = bytes;
  }
  const auto raw = reinterpret_cast<uintptr_t>(m.data.get());
  return reinterpret_cast<void*>((raw + kAlignment - 1) / kAlignment * kAlignment);
}

MatmulRun::MatmulRun(const Matmul& matmul, ThreadScratch& scratch)
    : matmul_(matmul), thread_scratch_(scratch) {
  const OneDnn& dnn = matmul.dnn_;
  const auto add = [&](int index, const dnnl_memory_desc_t& desc) {
    arguments_[count_] = {index, nullptr};
    if (made_ == dnnl_success)
      made_ =
          dnn.dnnl_memory_create(&arguments_[count_].memory, &desc, dnn.engine, DNNL_MEMORY_NONE);
    if (made_ == dnnl_success) ++count_;
  };
  add(DNNL_ARG_SRC, matmul.a_);
  add(DNNL_ARG_WEIGHTS, matmul.b_);
  add(DNNL_ARG_DST, matmul.c_);
  if (matmul.scratch_bytes_ != 0) add(DNNL_ARG_SCRATCHPAD, matmul.scratch_);
}

MatmulRun::~MatmulRun() {
  for (int i = 0; i < count_; ++i) matmul_.dnn_.dnnl_memory_destroy(arguments_[i].memory);
}

dnnl_status_t MatmulRun::run(const void* a, const void* b, void* c) {
  if (made_ != dnnl_success) return made_;
  const OneDnn& dnn = matmul_.dnn_;
  void* const data[] = {
      const_cast<void*>(a), const_cast<void*>(b), c,
      count_ == 4 ? thread_scratch_.memory(ThreadScratch::kScratchpad, matmul_.scratch_bytes_)
                  : nullptr};
  for (int i = 0; i < count_; ++i) {
    const dnnl_status_t status = dnn.dnnl_memory_set_data_handle(arguments_[i].memory, data[i]);
    if (status != dnnl_success) return status;
  }
  const primset_backend::BlockedSignals scope;
  const dnnl_status_t status =
      dnn.dnnl_primitive_execute(matmul_.primitive_, thread_scratch_.stream(), count_, arguments_);
  return status == dnnl_success ? dnn.dnnl_stream_wait(thread_scratch_.stream()) : status;
}

}  // namespace primset_cpu
