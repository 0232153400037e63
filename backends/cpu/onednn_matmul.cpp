#include "backends/cpu/onednn_matmul.h"

#include <mutex>
#include <unordered_map>

namespace primset_cpu {
namespace {

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

}  // namespace

std::shared_ptr<const Matmul> Matmul::get(const OneDnn& dnn, const MatmulShape& shape) {
  bool known = false;
  if (std::shared_ptr<const Matmul> found = remembered().find(shape, known); known) return found;
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
      !describe(c_, s.m, s.n, dnnl_f32, s.c_rows, 1))
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
  if (const dnnl_memory_desc_t* md =
          dnn_.dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0)) {
    scratch_ = *md;
    scratch_bytes_ = dnn_.dnnl_memory_desc_get_size(md);
  }
  const bool made = dnn_.dnnl_primitive_create(&primitive_, pd) == dnnl_success;
  dnn_.dnnl_primitive_desc_destroy(pd);
  return made;
}

dnnl_status_t Matmul::run(dnnl_stream_t stream, const void* a, const void* b, void* c,
                          std::vector<char>& scratch) const {
  constexpr size_t kAlignment = 64;
  if (scratch.size() < scratch_bytes_ + kAlignment) scratch.resize(scratch_bytes_ + kAlignment);
  const auto raw = reinterpret_cast<uintptr_t>(scratch.data());
  auto* aligned = reinterpret_cast<void*>((raw + kAlignment - 1) / kAlignment * kAlignment);
  struct Argument {
    int index;
    const dnnl_memory_desc_t* desc;
    void* data;
  } const arguments[] = {{DNNL_ARG_SRC, &a_, const_cast<void*>(a)},
                         {DNNL_ARG_WEIGHTS, &b_, const_cast<void*>(b)},
                         {DNNL_ARG_DST, &c_, c},
                         {DNNL_ARG_SCRATCHPAD, &scratch_, aligned}};
  dnnl_exec_arg_t exec[4];
  int count = 0;
  dnnl_status_t status = dnnl_success;
  for (const Argument& argument : arguments) {
    if (argument.index == DNNL_ARG_SCRATCHPAD && scratch_bytes_ == 0) continue;
    exec[count] = {argument.index, nullptr};
    status =
        dnn_.dnnl_memory_create(&exec[count].memory, argument.desc, dnn_.engine, argument.data);
    if (status != dnnl_success) break;
    ++count;
  }
  if (status == dnnl_success) status = dnn_.dnnl_primitive_execute(primitive_, stream, count, exec);
  if (status == dnnl_success) status = dnn_.dnnl_stream_wait(stream);
  for (int i = 0; i < count; ++i) dnn_.dnnl_memory_destroy(exec[i].memory);
  return status;
}

}  // namespace primset_cpu
