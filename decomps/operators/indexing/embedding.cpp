// Embeddings: rows of a matrix looked up, also in bags, their gradients, and rows made shorter.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/indexing.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

void require_lookup_dtype(const Val& indices, const char* op, int number = 1) {
  require(
      is_index(indices.dtype()), ErrorCode::runtime,
      fmt::format("Expected tensor for argument #{} 'indices' to have one of the following scalar "
                  "types: Long, Int; but got torch.{}Tensor instead (while checking arguments "
                  "for {})",
                  number, aten_name(indices.dtype()), op));
}

// A sum of bools is whether there is one.
Val row_gradients(Tracer& t, const Val& grad, const Val& indices, const SymInt& rows,
                  const SymInt& padding_idx, bool scale_grad_by_freq) {
  if (is_bool(grad.dtype()))
    return logical(row_gradients(t, convert(grad, DType::i32), indices, rows, padding_idx, false));
  return t.prim1(Prim::embedding_backward, {grad, indices},
                 {{"rows", rows},
                  {"padding_idx", padding_idx},
                  {"scale_grad_by_freq", scale_grad_by_freq},
                  {"in_bounds", false}});
}

void require_dense(bool sparse, const char* op) {
  require(!sparse, ErrorCode::not_implemented,
          fmt::format("{}: expected sparse=False, for gradients are dense tensors", op));
}

}  // namespace

Val embedding::decompose(Tracer& t, const Val& weight, const Val& indices, SymInt, bool, bool) {
  require(weight.rank() == 2, ErrorCode::runtime, "'weight' must be 2-D");
  require_lookup_dtype(indices, "embedding");
  check_index_of_empty(weight, 0, indices);
  const Val rows = t.prim1(Prim::index_select, {weight, flattened(indices)}, {{"dim", int64_t{0}}});
  SymInts shape = indices.shape();
  shape.push_back(weight.size(1));
  return reshape(rows, shape);
}

Val embedding_dense_backward::decompose(Tracer& t, const Val& grad_output, const Val& indices,
                                        SymInt num_weights, SymInt padding_idx,
                                        bool scale_grad_by_freq) {
  require_lookup_dtype(indices, "embedding_backward");
  SymInts looked_up = indices.shape();
  looked_up.push_back(grad_output.rank() > 0 ? grad_output.size(-1) : SymInt(1));
  require(
      equal_sizes(grad_output.shape(), looked_up), ErrorCode::runtime,
      fmt::format("embedding_dense_backward: expected grad_output to have a row for each of the "
                  "indices of size {}, but got {}",
                  shape_text(indices.shape()), shape_text(grad_output.shape())));
  const Val rows = flattened(indices);
  return row_gradients(t, reshape(grad_output, {rows.size(0), grad_output.size(-1)}), rows,
                       num_weights, padding_idx, scale_grad_by_freq);
}

Val embedding_backward::decompose(Tracer& t, const Val& grad, const Val& indices,
                                  SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq,
                                  bool sparse) {
  require_dense(sparse, "embedding_backward");
  return embedding_dense_backward::decompose(t, grad, indices, num_weights, padding_idx,
                                             scale_grad_by_freq);
}

// Rows are written as often as they are looked up, each time the same.
Val embedding_renorm::decompose(Tracer& t, const Val& self, const Val& indices,
                                const ScalarArg& max_norm, double norm_type) {
  require(
      self.rank() == 2, ErrorCode::runtime,
      fmt::format("Expected 2-dimensional tensor, but got {}-dimensional tensor for argument #1 "
                  "'self' (while checking arguments for embedding_renorm_)",
                  self.rank()));
  require_lookup_dtype(indices, "embedding_renorm_", 2);
  const Val places = flattened(indices);
  const Val rows = t.prim1(Prim::index_select, {self, places}, {{"dim", int64_t{0}}});
  const Val x = opmath(rows);
  const Val size = t.call1("linalg_vector_norm", {x, norm_type, std::vector<int64_t>{1}, true});
  const Val most = t.scalar(max_norm, size.dtype());
  const Val factor = most / (size + Scalar(1e-7));
  const Val shorter = convert(x * factor, self.dtype());
  return scattered(Prim::scatter, self, {places}, {0}, where(gt(size, most), shorter, rows));
}

// --- bags ---

namespace {

enum Mode : int64_t { kSumOfBag = 0, kMeanOfBag = 1, kMaxOfBag = 2 };

const char* mode_name(int64_t mode) {
  constexpr const char* kNames[] = {"sum", "mean", "max"};
  require(mode >= kSumOfBag && mode <= kMaxOfBag, ErrorCode::runtime,
          "`mode` must be sum, mean, or max.");
  return kNames[mode];
}

// The bag of each index: how many bags begin at it or before, less one.
Val bags_of(const Val& indices, const Val& offsets) {
  return bounds_up_to(convert(offsets, DType::i64), indices.size(0)) - Scalar(1);
}

// From each offset to the next one, or to the end.
Val lengths_of(const Val& offsets, const SymInt& entries) {
  if (offsets.is_empty()) return offsets;
  Tracer& t = offsets.tracer();
  const Val ends = concatenate(
      {slice(offsets, 0, 1, offsets.size(0), 1), t.constant(entries, offsets.dtype(), {SymInt(1)})},
      0);
  return ends - offsets;
}

// The dtype that indices and offsets have in common, to which ATen promotes them.
DType common_index(const Val& indices, const Val& offsets) {
  const DType common = promote_types(indices.dtype(), offsets.dtype());
  require(is_index(common), ErrorCode::runtime,
          fmt::format("Expected tensor for argument #1 'indices' to have one of the following "
                      "scalar types: Long, Int; but got torch.{}Tensor instead (while checking "
                      "arguments for embedding_bag)",
                      aten_name(common)));
  return common;
}

void require_bags(const Val& weight, const Val& indices, const Val& offsets,
                  const std::optional<Val>& per_sample, int64_t mode) {
  require(
      weight.rank() == 2, ErrorCode::runtime,
      fmt::format("weight has to be a 2D Tensor, but got Tensor of dimension {}", weight.rank()));
  require(indices.rank() == 1 && offsets.rank() == 1, ErrorCode::runtime,
          fmt::format("embedding_bag: expected indices and offsets of 1 dim, but got {} and {}",
                      shape_text(indices.shape()), shape_text(offsets.shape())));
  if (!per_sample) return;
  require(mode == kSumOfBag, ErrorCode::runtime,
          "embedding_bag: per_sample_weights only supported with mode='sum'");
  require(
      per_sample->dtype() == weight.dtype(), ErrorCode::runtime,
      fmt::format("Expected tensor for argument #1 'weight' to have the same type as tensor "
                  "for argument #1 'per_sample_weights'; but type torch.{}Tensor does not equal "
                  "torch.{}Tensor (while checking arguments for embedding_bag)",
                  aten_name(weight.dtype()), aten_name(per_sample->dtype())));
  require(per_sample->rank() == 1 && per_sample->size(0) == indices.size(0), ErrorCode::runtime,
          "Expected per_sample_weights.value().numel() == indices.numel() to be true, but got "
          "false.");
}

// What is wrong with the values of offsets.
void check_offsets(const Val& offsets, const Val& indices) {
  if (offsets.is_empty()) return;
  const Val first = select(offsets, 0, 0), last = select(offsets, 0, offsets.size(0) - 1);
  check(eq(first, Scalar(0)), first, ErrorCode::runtime,
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
        "position 0. However, got {value}");
  check(le(last, full_like(last, indices.size(0))), last, ErrorCode::runtime,
        "offsets[-1] can not be greater than input's length but got offsets[-1] of {value}");
}

struct Bags {
  Val offsets;  // where each begins
  std::string mode;
};

// Sums and means of bags are a product: a matrix in rows, whose entries are the numbers of the
// samples in the columns that they look up, times the weight.
Val product_of_bags(Tracer& t, const Val& weight, const Val& indices, const Bags& b,
                    const std::optional<Val>& per_sample) {
  const SymInt entries = indices.size(0), rows = weight.size(0);
  check(
      ge(indices, Scalar(0)) & lt(indices, full_like(indices, rows)), indices, ErrorCode::index,
      "index {value} of 'indices' is out of bounds for dimension 0; expected one within its size");
  const Val pointers =
      concatenate({b.offsets, t.constant(entries, b.offsets.dtype(), {SymInt(1)})}, 0);
  const Val values = per_sample ? *per_sample : t.constant(1.0, weight.dtype(), {entries});
  return t.prim1(Prim::sparse_matmul, {values, pointers, indices, weight},
                 {{"size", rows}, {"transpose", false}, {"reduce", b.mode}});
}

using FourResults = std::tuple<Val, Val, Val, Val>;

// ATen's other results on the CPU: a sum has no sizes, and its bags are left out where a kernel of
// its own computes it; the places of the greatest are the sizes where there is no greatest.
FourResults bag_results(Tracer& t, const Val& weight, const Val& given_indices,
                        const Val& given_offsets, int64_t mode,
                        const std::optional<Val>& per_sample, bool include_last_offset,
                        int64_t padding_idx) {
  const std::string name = mode_name(mode);
  const DType type = common_index(given_indices, given_offsets);
  const Val indices = convert(given_indices, type), offsets = convert(given_offsets, type);
  require_bags(weight, indices, offsets, per_sample, mode);
  check_offsets(offsets, indices);
  require(!include_last_offset || !offsets.is_empty(), ErrorCode::runtime,
          "include_last_offset: number of offset should be at least 1");
  const SymInt count = include_last_offset ? offsets.size(0) - 1 : offsets.size(0);
  const Val starts = include_last_offset ? slice(offsets, 0, 0, count, 1) : offsets;
  const Val bags = bags_of(indices, starts);
  std::vector<Val> r;
  if (mode != kMaxOfBag && padding_idx < 0 && !indices.is_empty() && !weight.is_empty()) {
    r = {product_of_bags(t, weight, indices, {starts, name}, per_sample),
         lengths_of(starts, indices.size(0))};
  } else {
    r = t.prim(Prim::embedding_bag, {weight, indices, bags, per_sample.value_or(Val())},
               {{"count", count}, {"mode", name}, {"padding_idx", SymInt(padding_idx)}});
  }
  const auto steps_by_one = [&](const Val& x) {
    return known_equal(t.place_of(x).strides.back(), 1) == true;
  };
  const bool left_out = mode == kSumOfBag && padding_idx < 0 && weight.dtype() != DType::f64 &&
                        steps_by_one(weight) && (!per_sample || steps_by_one(*per_sample));
  const Val of_indices = left_out ? zeros(t, {SymInt(0)}, type) : convert(bags, type);
  const Val sizes = mode == kSumOfBag ? zeros(t, {count}, type) : convert(r[1], type);
  return {r[0], of_indices, sizes, mode == kMaxOfBag ? convert(r[2], type) : sizes};
}

}  // namespace

FourResults _embedding_bag::decompose(Tracer& t, const Val& weight, const Val& indices,
                                      const Val& offsets, bool, int64_t mode, bool,
                                      const std::optional<Val>& per_sample_weights,
                                      bool include_last_offset, int64_t padding_idx) {
  return bag_results(t, weight, indices, offsets, mode, per_sample_weights, include_last_offset,
                     padding_idx);
}

// Where no gradient will be asked for, ATen leaves the sizes of a sum, which are not computed, as
// long as the offsets.
FourResults _embedding_bag_forward_only::decompose(Tracer& t, const Val& weight, const Val& indices,
                                                   const Val& offsets, bool, int64_t mode, bool,
                                                   const std::optional<Val>& per_sample_weights,
                                                   bool include_last_offset, int64_t padding_idx) {
  FourResults r = bag_results(t, weight, indices, offsets, mode, per_sample_weights,
                              include_last_offset, padding_idx);
  if (mode != kSumOfBag || !include_last_offset) return r;
  const Val sizes = zeros(t, {offsets.size(0)}, std::get<2>(r).dtype());
  return {std::get<0>(r), std::get<1>(r), sizes, sizes};
}

FourResults embedding_bag::decompose(Tracer& t, const Val& weight, const Val& indices,
                                     const Val& offsets, bool, int64_t mode, bool,
                                     const std::optional<Val>& per_sample_weights,
                                     bool include_last_offset) {
  return bag_results(t, weight, indices, offsets, mode, per_sample_weights, include_last_offset,
                     -1);
}

FourResults embedding_bag_padding_idx::decompose(Tracer& t, const Val& weight, const Val& indices,
                                                 const Val& offsets, bool, int64_t mode, bool,
                                                 const std::optional<Val>& per_sample_weights,
                                                 bool include_last_offset,
                                                 const std::optional<int64_t>& padding_idx) {
  int64_t padding = -1;
  if (padding_idx) {
    const SymInt rows = weight.size(0);
    require(SymInt(*padding_idx) < rows && -rows <= SymInt(*padding_idx), ErrorCode::runtime,
            fmt::format("padding_idx must be within the number of embeddings, -{} through {}, but "
                        "got {}",
                        rows.hint(), rows.hint() - 1, *padding_idx));
    padding = *padding_idx < 0 ? rows.specialize() + *padding_idx : *padding_idx;
  }
  return bag_results(t, weight, indices, offsets, mode, per_sample_weights, include_last_offset,
                     padding);
}

namespace {

// The gradient of each element of the bags goes to the row that it comes from.
Val gradient_of_greatest(Tracer& t, const Val& grad, const Val& sizes, const Val& places,
                         const SymInt& rows) {
  const Val taken = unsqueeze(gt(sizes, Scalar(0)), 1);
  const Val updates = where(taken, opmath(grad), full_like(opmath(grad), 0));
  const Val column = t.iota(places.shape(), 1, DType::i64);
  const Val none = zeros(t, {rows, grad.size(1)}, updates.dtype());
  return convert(
      scattered(Prim::scatter_add, none, {convert(places, DType::i64), column}, {0, 1}, updates),
      grad.dtype());
}

// ATen reads what it has noted of bags in the dtype of the indices.
void require_noted(const Val& noted, DType type) {
  require(noted.dtype() == type, ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}; expected offset2bag and bag_size to "
                      "have the dtype of the indices",
                      aten_name(type), aten_name(noted.dtype())));
}

// What says which bag each index is in.
void require_bag_of_each(const Val& bags, const Val& indices) {
  require_rank("embedding_bag", "indices", indices, 1);
  require(is_index(bags.dtype()), ErrorCode::runtime,
          fmt::format("Expected tensor for argument #1 'offset2bag' to have one of the following "
                      "scalar types: Long, Int; but got torch.{}Tensor instead (while checking "
                      "arguments for embedding_bag)",
                      aten_name(bags.dtype())));
  require_noted(bags, indices.dtype());
  require(bags.rank() == 1 && bags.size(0) == indices.size(0), ErrorCode::index,
          fmt::format("index out of range in self: expected offset2bag of indices' size {}, but "
                      "got {}",
                      shape_text(indices.shape()), shape_text(bags.shape())));
}

Val bag_gradient(Tracer& t, const Val& grad, const Val& indices, const Val& bags, const Val& sizes,
                 const Val& places, const SymInt& rows, bool scale_grad_by_freq, int64_t mode,
                 const std::optional<Val>& per_sample, int64_t padding_idx) {
  mode_name(mode);
  require_lookup_dtype(indices, "embedding_bag");
  require(grad.rank() == 2, ErrorCode::runtime,
          fmt::format("embedding_bag: expected a gradient of 2 dims, but got {}",
                      shape_text(grad.shape())));
  if (mode == kMaxOfBag) {
    require_sizes("embedding_bag", "maximum_indices", places, "grad", grad.shape());
    require_sizes("embedding_bag", "bag_size", sizes, "the bags", {grad.size(0)});
    return gradient_of_greatest(t, grad, sizes, places, rows);
  }
  require_bag_of_each(bags, indices);
  require_noted(sizes, indices.dtype());
  Val each = opmath(t.prim1(Prim::index_select, {grad, bags}, {{"dim", int64_t{0}}}));
  if (per_sample) {
    require_sizes("embedding_bag", "per_sample_weights", *per_sample, "indices", indices.shape());
    each = each * unsqueeze(opmath(*per_sample), 1);
  }
  if (mode == kMeanOfBag) {
    require_sizes("embedding_bag", "bag_size", sizes, "the bags", {grad.size(0)});
    const Val size = t.prim1(Prim::index_select, {sizes, bags}, {{"dim", int64_t{0}}});
    each = each / unsqueeze(convert(size, each.dtype()), 1);
  }
  return convert(row_gradients(t, each, indices, rows, padding_idx, scale_grad_by_freq),
                 grad.dtype());
}

}  // namespace

Val _embedding_bag_backward::decompose(Tracer& t, const Val& grad, const Val& indices,
                                       const Val& offsets, const Val& offset2bag,
                                       const Val& bag_size, const Val& maximum_indices,
                                       SymInt num_weights, bool scale_grad_by_freq, int64_t mode,
                                       bool sparse, const std::optional<Val>& per_sample_weights,
                                       int64_t padding_idx) {
  require_dense(sparse, "_embedding_bag_backward");
  const Val places = convert(indices, common_index(indices, offsets));
  const bool known = offset2bag.numel() == indices.numel();
  const Val bags = known ? offset2bag : convert(bags_of(places, offsets), places.dtype());
  return bag_gradient(t, grad, places, bags, bag_size, maximum_indices, num_weights,
                      scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}

Val _embedding_bag_dense_backward::decompose(Tracer& t, const Val& grad, const Val& indices,
                                             const Val& offset2bag, const Val& bag_size,
                                             const Val& maximum_indices, SymInt num_weights,
                                             bool scale_grad_by_freq, int64_t mode,
                                             const std::optional<Val>& per_sample_weights,
                                             int64_t padding_idx) {
  return bag_gradient(t, grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
                      scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}

Val _embedding_bag_per_sample_weights_backward::decompose(Tracer& t, const Val& grad,
                                                          const Val& weight, const Val& indices,
                                                          const Val& offsets, const Val& offset2bag,
                                                          int64_t mode, int64_t padding_idx) {
  require(mode == kSumOfBag, ErrorCode::runtime,
          "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  constexpr const char* kName = "_embedding_bag_per_sample_weights_backward";
  require_rank(kName, "grad", grad, 2);
  require_rank(kName, "weight", weight, 2);
  require_rank(kName, "indices", indices, 1);
  require_dtype(kName, "weight", weight, grad.dtype());
  require(weight.size(1) == grad.size(1), ErrorCode::runtime,
          fmt::format("{}: expected weight of grad's {} columns, but got {}", kName,
                      grad.size(1).hint(), weight.size(1).hint()));
  const Val places = convert(indices, common_index(indices, offsets));
  const bool known = offset2bag.numel() == indices.numel();
  const Val bags = known ? offset2bag : convert(bags_of(places, offsets), places.dtype());
  require_bag_of_each(bags, places);
  const auto rows = [&](const Val& x, const Val& at) {
    return opmath(t.prim1(Prim::index_select, {x, at}, {{"dim", int64_t{0}}}));
  };
  const Val sum = reduce(Prim::reduce_sum, rows(grad, bags) * rows(weight, places), {1}, false);
  const Val padding = eq(places, Scalar(padding_idx));
  return convert(where(padding, full_like(sum, 0), sum), grad.dtype());
}

// --- one-hot ---

Val one_hot::decompose(Tracer& t, const Val& self, int64_t num_classes) {
  require(self.dtype() == DType::i64, ErrorCode::runtime,
          "one_hot is only applicable to index tensor of type LongTensor.");
  require(!self.is_empty() || num_classes > 0, ErrorCode::runtime,
          "Can not infer total number of classes from empty tensor.");
  require(num_classes != -1, ErrorCode::not_implemented,
          "one_hot: without num_classes the size of the result depends on the values; pass "
          "num_classes");
  check(ge(self, Scalar(0)), self, ErrorCode::runtime, "Class values must be non-negative.");
  check(lt(self, Scalar(num_classes)), self, ErrorCode::runtime,
        "Class values must be smaller than num_classes.");
  SymInts shape = self.shape();
  shape.push_back(std::max<int64_t>(num_classes, 0));
  return convert(eq(unsqueeze(self, self.rank()), t.iota(shape, self.rank(), DType::i64)),
                 DType::i64);
}

// --- indices that count where a mask holds ---

namespace {

// The index where the mask holds, which may be of numbers, and the first place where it does not.
std::vector<std::optional<Val>> masked_indices(const Val& mask,
                                               const std::vector<std::optional<Val>>& indices) {
  std::vector<std::optional<Val>> out = indices;
  for (std::optional<Val>& i : out) {
    if (i) i = where(logical(mask), *i, full_like(*i, 0));
  }
  return out;
}

}  // namespace

Val _unsafe_masked_index::decompose(Tracer& t, const Val& self, const Val& mask,
                                    const std::vector<std::optional<Val>>& indices,
                                    const ScalarArg& fill) {
  const Val found = t.call1("_unsafe_index.Tensor", {self, masked_indices(mask, indices)});
  return where(logical(mask), found, t.scalar(fill, self.dtype()));
}

Val _unsafe_masked_index_put_accumulate::decompose(Tracer& t, const Val& self, const Val& mask,
                                                   const std::vector<std::optional<Val>>& indices,
                                                   const Val& values) {
  const std::vector<std::optional<Val>> places = masked_indices(mask, indices);
  const Val counted = where(logical(mask), values, full_like(values, 0));
  return t.call1("_unsafe_index_put", {self, places, counted, true});
}

}  // namespace primset::decomps
