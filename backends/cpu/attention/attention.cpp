// attention by tiles: the scores of some queries and a block of keys, and the product of their
// weights with the values, are oneDNN's products; between them runs the softmax of softmax_rows.h.
// So scores stay in a core's cache, and causal attention leaves out the keys that no query of a
// tile sees. Tiles depend on the shape alone, and each is one thread's: the bits are the same on
// any number of them. Operands are given to oneDNN without gaps, copied where they lie otherwise,
// because its code depends on strides; bf16 as f32 on a processor that does not multiply it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <list>
#include <new>
#include <string_view>
#include <vector>

#include "backends/common/status.h"
#include "backends/cpu/attention/attention_call.h"
#include "backends/cpu/attention/softmax_rows.h"
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/linalg/support.h"
#include "backends/cpu/objects.h"
#include "backends/cpu/onednn_matmul.h"
#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

using primset_backend::guarded;
using primset_backend::make_status;

// Keys of a block are multiples of kKeyStep, but the last: few sizes, each of which oneDNN has to
// compile code for.
constexpr int64_t kMostKeys = 512, kKeyStep = 128, kMostQueries = 128, kFewQueries = 32;

template <typename T>
dnnl_data_type_t dnnl_type() {
  return sizeof(T) == 2 ? dnnl_bf16 : dnnl_f32;
}

// Rows of a tensor's matrix.
template <typename T>
struct RowsOf {
  const T* data;
  int64_t row_stride, column_stride;
  RowsOf(const primset_tensor& t, int64_t offset)
      : data(data_at<const T>(t) + offset),
        row_stride(t.strides[t.rank - 2]),
        column_stride(t.strides[t.rank - 1]) {}
};

// Rows [first, first + count) without gaps and of type P: copied where they are not.
template <typename P, typename T>
const P* dense_rows(const RowsOf<T>& from, int64_t first, int64_t count, int64_t width,
                    std::vector<P>& copy) {
  const T* const at = from.data + first * from.row_stride;
  const bool by_one = from.column_stride == 1 || width == 1;
  if constexpr (std::is_same_v<P, T>)
    if (by_one && (from.row_stride == width || count == 1)) return at;
  copy.resize(static_cast<size_t>(count * width));
  for (int64_t i = 0; i < count; ++i) {
    P* const to = &copy[static_cast<size_t>(i * width)];
    const T* const row = at + i * from.row_stride;
    const int64_t step = from.column_stride;
    if (by_one)
      for (int64_t j = 0; j < width; ++j) to[j] = converted<P>(row[j]);
    else
      for (int64_t j = 0; j < width; ++j) to[j] = converted<P>(row[j * step]);
  }
  return copy.data();
}

// One thread's memory, and its products of elements of type P.
template <typename T, typename P>
class Tiles {
 public:
  Tiles(const AttentionCall& call, const OneDnn& dnn, ThreadScratch& scratch)
      : c_(call), dnn_(dnn), scratch_(scratch) {}

  // The queries [first, first + count) of one index of the batch dims.
  dnnl_status_t run(int64_t index, int64_t first, int64_t count) {
    const RowsOf<T> q(*c_.q, c_.offset(*c_.q, index)), k(*c_.k, c_.offset(*c_.k, index)),
        v(*c_.v, c_.offset(*c_.v, index));
    first_ = first, count_ = count, index_ = index;
    const P* const queries = dense_rows<P>(q, first, count, c_.width, q_copy_);
    states_.assign(static_cast<size_t>(count), RowState());
    sums_.assign(static_cast<size_t>(count * c_.value_width), 0.0f);
    products_.resize(sums_.size());
    const int64_t end = c_.causal ? std::min(c_.keys, first + count) : c_.keys;
    for (int64_t key = 0; key < end;) {
      int64_t keys = std::min(kMostKeys, (end - key + kKeyStep - 1) / kKeyStep * kKeyStep);
      keys = std::min(keys, c_.keys - key);
      scores_.resize(static_cast<size_t>(count * keys));
      weights_.resize(scores_.size());
      const P* const some_keys = dense_rows<P>(k, key, keys, c_.width, k_copy_);
      const P* const values = dense_rows<P>(v, key, keys, c_.value_width, v_copy_);
      if (const auto status =
              multiply({dnnl_type<P>(), count, keys, c_.width, c_.width, 1, 1, c_.width, keys},
                       queries, some_keys, scores_.data()))
        return status;
      first_key_ = key, keys_ = keys;
      vector_code([](Tiles* t) PRIMSET_INLINE_LAMBDA { t->weigh(); }, this);
      if (const auto status = multiply({dnnl_type<P>(), count, c_.value_width, keys, keys, 1,
                                        c_.value_width, 1, c_.value_width},
                                       weights_.data(), values, products_.data()))
        return status;
      vector_code([](Tiles* t) PRIMSET_INLINE_LAMBDA { t->add_products(); }, this);
      key += keys;
    }
    vector_code([](Tiles* t) PRIMSET_INLINE_LAMBDA { t->store(); }, this);
    return dnnl_success;
  }

 private:
  dnnl_status_t multiply(const MatmulShape& shape, const P* a, const P* b, float* c) {
    auto known = std::ranges::find(products_made_, shape, &Product::shape);
    if (known == products_made_.end()) {
      auto matmul = Matmul::get(dnn_, shape);
      if (!matmul) return dnnl_unimplemented;
      known = products_made_.emplace(products_made_.end(), shape, std::move(matmul), scratch_);
    }
    return known->run.run(a, b, c);
  }

  // Makes weights of the block's scores, and scales what the rows have so far.
  PRIMSET_INLINE void weigh() {
    for (int64_t i = 0; i < count_; ++i) {
      ScoreRow<T, P> row{&scores_[static_cast<size_t>(i * keys_)],
                         &weights_[static_cast<size_t>(i * keys_)], keys_, keys_, c_.scale};
      if (c_.causal) row.visible = std::clamp<int64_t>(first_ + i + 1 - first_key_, 0, keys_);
      if (c_.mask) add_mask(row, i);
      const float factor = softmax_step(row, states_[static_cast<size_t>(i)]);
      float* const sums = &sums_[static_cast<size_t>(i * c_.value_width)];
      if (first_key_ == 0) continue;
      for (int64_t j = 0; j < c_.value_width; ++j) sums[j] *= factor;
    }
  }

  PRIMSET_INLINE void add_mask(ScoreRow<T, P>& row, int64_t i) {
    const primset_tensor& m = *c_.mask;
    row.stride = m.strides[m.rank - 1];
    const int64_t at =
        c_.offset(m, index_) + (first_ + i) * m.strides[m.rank - 2] + first_key_ * row.stride;
    if (m.dtype == PRIMSET_BOOL)
      row.hides = data_at<const bool>(m) + at;
    else
      row.added = data_at<const T>(m) + at;
  }

  PRIMSET_INLINE void add_products() {
    const size_t n = sums_.size();
    for (size_t i = 0; i < n; ++i) sums_[i] += products_[i];
  }

  // A row whose keys are all hidden gives 0.
  PRIMSET_INLINE void store() {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < count_; ++i) {
      const RowState& s = states_[static_cast<size_t>(i)];
      const int64_t row = index_ * c_.queries + first_ + i;
      T* const y = data_at<T>(*c_.y) + row * c_.value_width;
      const float* const sums = &sums_[static_cast<size_t>(i * c_.value_width)];
      const bool hidden = s.greatest == kNone;
      for (int64_t j = 0; j < c_.value_width; ++j) put(hidden ? 0.0f : sums[j] / s.sum, y[j]);
      data_at<float>(*c_.logsumexp)[row] = hidden ? kNone : std::log(s.sum) + s.greatest;
    }
  }

  struct Product {
    Product(const MatmulShape& s, std::shared_ptr<const Matmul> m, ThreadScratch& scratch)
        : shape(s), matmul(std::move(m)), run(*matmul, scratch) {}
    MatmulShape shape;
    std::shared_ptr<const Matmul> matmul;
    MatmulRun run;
  };

  const AttentionCall& c_;
  const OneDnn& dnn_;
  ThreadScratch& scratch_;
  std::list<Product> products_made_;
  std::vector<P> q_copy_, k_copy_, v_copy_, weights_;
  std::vector<float> scores_, products_, sums_;
  std::vector<RowState> states_;
  int64_t index_ = 0, first_ = 0, count_ = 0, first_key_ = 0, keys_ = 0;
};

// A call and its tiles: those of one index of the batch dims follow each other.
struct TiledCall {
  AttentionCall call;
  const OneDnn* dnn;
  int64_t rows;  // queries of a tile
  std::atomic<int> failure{dnnl_success};

  int64_t tiles() const { return (call.queries + rows - 1) / rows; }

  template <typename T, typename P>
  void run(uint64_t begin, uint64_t end, ThreadScratch& scratch) {
    Tiles<T, P> tiles_of(call, *dnn, scratch);
    for (auto tile = static_cast<int64_t>(begin); tile < static_cast<int64_t>(end); ++tile) {
      const int64_t first = tile % tiles() * rows;
      const auto status = tiles_of.run(tile / tiles(), first, std::min(rows, call.queries - first));
      if (status != dnnl_success) failure.store(status, std::memory_order_relaxed);
    }
  }
};

// A primset_native_entry: the pool runs tiles as it runs workgroups.
void run_tiles(const void* params, uint64_t begin, uint64_t end, uint64_t) {
  TiledCall& c = **static_cast<TiledCall* const*>(params);
  const OneThread one(*c.dnn);
  try {
    std::unique_ptr<ThreadScratch> scratch = ThreadScratch::take(*c.dnn);
    if (c.call.q->dtype == PRIMSET_F32)
      c.run<float, float>(begin, end, *scratch);
    else if (cpu_info().bf16_products)
      c.run<uint16_t, uint16_t>(begin, end, *scratch);
    else
      c.run<uint16_t, float>(begin, end, *scratch);
    ThreadScratch::give_back(std::move(scratch));
  } catch (const std::bad_alloc&) {  // a pool thread has nobody to throw to
    c.failure.store(dnnl_out_of_memory, std::memory_order_relaxed);
  }
}

primset_status* run_attention(primset_stream stream, const void*,
                              const primset_primitive_call* call) {
  return guarded("attention", [&]() -> primset_status* {
    const auto read = read_attention(*call);
    if (!read) return make_status(PRIMSET_INVALID_ARGUMENT, "attention: find refuses this call");
    TiledCall tiled{*read, onednn(), std::min(kMostQueries, read->queries)};
    const AttentionCall& c = tiled.call;
    const auto count = [&] { return static_cast<uint64_t>(c.batch * tiled.tiles()); };
    if (c.batch == 0 || c.queries == 0) return nullptr;
    constexpr uint64_t kEnoughTiles = 8;
    while (tiled.rows > kFewQueries && count() < kEnoughTiles) tiled.rows /= 2;
    const TiledCall* params = &tiled;
    stream->device->pool->run({run_tiles, &params, 0, count(), count()});
    const int failure = tiled.failure.load(std::memory_order_relaxed);
    if (failure == dnnl_success) return nullptr;
    return make_status(failure == dnnl_out_of_memory ? PRIMSET_OUT_OF_MEMORY : PRIMSET_INTERNAL,
                       "attention: oneDNN status %d", failure);
  });
}

// From so many multiplications of one index of the batch dims on, tiles are the faster way.
constexpr uint64_t kLeastAttentionProducts = uint64_t{1} << 20;

bool has_code(const AttentionCall& c) {
  const bool wide = c.q->dtype == PRIMSET_F32 || !cpu_info().bf16_products;
  const dnnl_data_type_t type = wide ? dnnl_f32 : dnnl_bf16;
  const MatmulShape probe{type, 16, 16, 16, 16, 1, 1, 16, 16};
  return Matmul::get(*onednn(), probe) != nullptr;
}

}  // namespace

bool find_attention(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  if (std::string_view(name) != "attention") return false;
  const auto c = read_attention(call);
  // One query reads keys and values once: generated kernels do that at the memory's speed.
  if (!c || c->queries == 1 || !onednn() || !has_code(*c)) return false;
  return answer(out, run_attention, PRIMSET_PRIMITIVE_STRIDED, kLeastAttentionProducts);
}

}  // namespace primset_cpu
