#include "backends/cuda/attention/attention_graph.h"

#include <array>
#include <optional>
#include <span>
#include <utility>

namespace primset_cuda {
namespace {

using Four = std::array<int64_t, 4>;

Four dense_strides(const Four& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}
Four with_rows(const AttentionStrides& strides) {
  return {strides[0], strides[1], strides[2], 1};
}

// Makes tensors and operations, and keeps the latter in order.
class GraphBuilder {
 public:
  explicit GraphBuilder(const CudnnApi& api) : api_(api) {}

  CudnnDescriptor tensor(int64_t id, DnnType type, const Four& sizes, const Four& strides) {
    return described(id, type, sizes, strides, false, false);
  }
  // A number, read from the host's memory when the plan runs.
  CudnnDescriptor number(int64_t id) {
    return described(id, DnnType::f32, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true);
  }
  // In no memory.
  CudnnDescriptor between(DnnType type, const Four& sizes) {
    return described(next_id_++, type, sizes, dense_strides(sizes), true, false);
  }

  void multiply(const CudnnDescriptor& a, const CudnnDescriptor& b, const CudnnDescriptor& to);
  struct Pointwise {
    DnnPointwiseMode mode;
    const CudnnDescriptor &x, &to;
    const CudnnDescriptor *b = nullptr, *condition = nullptr;
    std::optional<int64_t> axis = {};
  };
  void apply(const Pointwise& p);
  // Along the last dim.
  void reduce(DnnReductionMode mode, const CudnnDescriptor& x, const CudnnDescriptor& to);

  std::vector<CudnnDescriptor> take() { return std::move(operations_); }

 private:
  CudnnDescriptor described(int64_t id, DnnType type, const Four& sizes, const Four& strides,
                            bool is_virtual, bool by_value);

  const CudnnApi& api_;
  int64_t next_id_ = kAttentionVirtual;
  std::vector<CudnnDescriptor> operations_;
};

CudnnDescriptor GraphBuilder::described(int64_t id, DnnType type, const Four& sizes,
                                        const Four& strides, bool is_virtual, bool by_value) {
  CudnnDescriptor out(api_, DnnKind::tensor);
  out.set(DnnAttribute::tensor_id, id)
      .set(DnnAttribute::tensor_type, type)
      .set(DnnAttribute::tensor_sizes, std::span<const int64_t>(sizes))
      .set(DnnAttribute::tensor_strides, std::span<const int64_t>(strides))
      .set(DnnAttribute::tensor_alignment, kAttentionAlignment);
  if (is_virtual) out.set(DnnAttribute::tensor_is_virtual, true);
  if (by_value) out.set(DnnAttribute::tensor_is_by_value, true);
  out.finalize();
  return out;
}

void GraphBuilder::multiply(const CudnnDescriptor& a, const CudnnDescriptor& b,
                            const CudnnDescriptor& to) {
  CudnnDescriptor sums(api_, DnnKind::matmul), out(api_, DnnKind::matmul_operation);
  sums.set(DnnAttribute::matmul_type, DnnType::f32).finalize();
  out.set(DnnAttribute::matmul_operation_a, a)
      .set(DnnAttribute::matmul_operation_b, b)
      .set(DnnAttribute::matmul_operation_c, to)
      .set(DnnAttribute::matmul_operation_matmul, sums)
      .finalize();
  operations_.push_back(std::move(out));
}

void GraphBuilder::apply(const Pointwise& p) {
  CudnnDescriptor mode(api_, DnnKind::pointwise), out(api_, DnnKind::pointwise_operation);
  mode.set(DnnAttribute::pointwise_mode, p.mode).set(DnnAttribute::pointwise_type, DnnType::f32);
  if (p.axis) mode.set(DnnAttribute::pointwise_axis, *p.axis);
  mode.finalize();
  out.set(DnnAttribute::pointwise_operation_mode, mode)
      .set(DnnAttribute::pointwise_operation_x, p.x)
      .set(DnnAttribute::pointwise_operation_y, p.to);
  if (p.b) out.set(DnnAttribute::pointwise_operation_b, *p.b);
  if (p.condition) out.set(DnnAttribute::pointwise_operation_condition, *p.condition);
  out.finalize();
  operations_.push_back(std::move(out));
}

void GraphBuilder::reduce(DnnReductionMode mode, const CudnnDescriptor& x,
                          const CudnnDescriptor& to) {
  CudnnDescriptor how(api_, DnnKind::reduction), out(api_, DnnKind::reduction_operation);
  how.set(DnnAttribute::reduction_mode, mode)
      .set(DnnAttribute::reduction_type, DnnType::f32)
      .finalize();
  out.set(DnnAttribute::reduction_operation_x, x)
      .set(DnnAttribute::reduction_operation_y, to)
      .set(DnnAttribute::reduction_operation_reduction, how)
      .finalize();
  operations_.push_back(std::move(out));
}

// The operations of one call. The engines know the graph by its form: it is what cuDNN's own
// description of attention makes (cudnn-frontend, "scaled dot product attention").
class AttentionGraph {
 public:
  AttentionGraph(const CudnnApi& api, const AttentionShape& shape)
      : graph_(api),
        s_(shape),
        scores_{s_.batch, s_.heads, s_.queries, s_.keys},
        rows_{s_.batch, s_.heads, s_.queries, 1} {}

  std::vector<CudnnDescriptor> operations() {
    const CudnnDescriptor scores = scaled_scores();
    const CudnnDescriptor weights = s_.causal ? softmax(causal(scores)) : softmax(scores);
    const CudnnDescriptor v = graph_.tensor(kAttentionV, s_.type,
                                            {s_.batch, s_.heads, s_.keys, s_.value_width},
                                            with_rows(s_.v)),
                          y = graph_.tensor(kAttentionY, s_.type,
                                            {s_.batch, s_.heads, s_.queries, s_.value_width},
                                            with_rows(s_.y));
    graph_.multiply(weights, v, y);
    return graph_.take();
  }

 private:
  CudnnDescriptor score(DnnType type = DnnType::f32) { return graph_.between(type, scores_); }
  CudnnDescriptor row() { return graph_.between(DnnType::f32, rows_); }

  CudnnDescriptor scaled_scores();
  CudnnDescriptor causal(const CudnnDescriptor& scores);
  CudnnDescriptor softmax(const CudnnDescriptor& scores);

  GraphBuilder graph_;
  const AttentionShape& s_;
  const Four scores_, rows_;
};

CudnnDescriptor AttentionGraph::scaled_scores() {
  const CudnnDescriptor q = graph_.tensor(
      kAttentionQ, s_.type, {s_.batch, s_.heads, s_.queries, s_.width}, with_rows(s_.q));
  const CudnnDescriptor transposed =
      graph_.tensor(kAttentionK, s_.type, {s_.batch, s_.heads, s_.width, s_.keys},
                    {s_.k[0], s_.k[1], 1, s_.k[2]});
  const CudnnDescriptor product = score(), scale = graph_.number(kAttentionScale);
  graph_.multiply(q, transposed, product);
  CudnnDescriptor scaled = score();
  graph_.apply({DnnPointwiseMode::multiply, product, scaled, &scale});
  return scaled;
}

CudnnDescriptor AttentionGraph::causal(const CudnnDescriptor& scores) {
  const CudnnDescriptor query = score(DnnType::i32), key = score(DnnType::i32),
                        seen = score(DnnType::boolean), hidden = graph_.number(kAttentionHidden);
  graph_.apply({DnnPointwiseMode::index, scores, query, nullptr, nullptr, 2});
  graph_.apply({DnnPointwiseMode::index, scores, key, nullptr, nullptr, 3});
  graph_.apply({DnnPointwiseMode::greater_or_equal, query, seen, &key});
  CudnnDescriptor masked = score();
  graph_.apply({DnnPointwiseMode::select, scores, masked, &hidden, &seen});
  return masked;
}

CudnnDescriptor AttentionGraph::softmax(const CudnnDescriptor& scores) {
  const CudnnDescriptor most = row(), below = score(), powers = score(), sum = row(), log = row();
  const CudnnDescriptor logsumexp =
      graph_.tensor(kAttentionLogsumexp, DnnType::f32, rows_, dense_strides(rows_));
  graph_.reduce(DnnReductionMode::max, scores, most);
  graph_.apply({DnnPointwiseMode::subtract, scores, below, &most});
  graph_.apply({DnnPointwiseMode::exp, below, powers});
  graph_.reduce(DnnReductionMode::add, powers, sum);
  graph_.apply({DnnPointwiseMode::log, sum, log});
  graph_.apply({DnnPointwiseMode::add, most, logsumexp, &log});
  CudnnDescriptor weights = score(s_.type);
  graph_.apply({DnnPointwiseMode::divide, powers, weights, &sum});
  return weights;
}

}  // namespace

std::vector<CudnnDescriptor> attention_operations(const CudnnApi& api,
                                                  const AttentionShape& shape) {
  return AttentionGraph(api, shape).operations();
}

}  // namespace primset_cuda
