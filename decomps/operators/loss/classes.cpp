// Losses of class numbers: log likelihood, cross entropy and margins between classes.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/loss.h"
#include "decomps/operators/loss/terms.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using math::number;

// Numbers of classes, which index: i64, or where ATen takes them bytes.
Val class_numbers(const Val& target, bool or_bytes = false) {
  const DType t = target.dtype();
  require(t == DType::i64 || (or_bytes && t == DType::u8), ErrorCode::runtime,
          fmt::format("expected scalar type Long but found {}", aten_name(t)));
  return convert(target, DType::i64);
}

// --- negative log likelihood ---

// The class's dim is 1 of a batch, or the only one.
int64_t class_dim(const Val& self) {
  return self.rank() == 1 ? 0 : 1;
}

void require_weight(const std::optional<Val>& weight, const Val& self) {
  const SymInt classes = self.size(class_dim(self));
  require(!weight || (weight->rank() == 1 && weight->size(0) == classes), ErrorCode::runtime,
          fmt::format("weight tensor should be defined either for all {} classes or no classes but "
                      "got weight tensor of shape: {}",
                      classes.hint(), weight ? shape_text(weight->shape()) : ""));
}

void require_target(const Val& self, const Val& target) {
  require(self.rank() > 0 && self.rank() <= 2, ErrorCode::runtime,
          "input tensor should be 1D or 2D");
  require(target.rank() <= 1, ErrorCode::runtime,
          "0D or 1D target tensor expected, multi-target not supported");
  const bool single = self.rank() == 1 && target.rank() == 0;
  require(single || (target.rank() == 1 && self.size(0) == target.size(0)), ErrorCode::runtime,
          fmt::format("size mismatch (got input: {}, target: {})", shape_text(self.shape()),
                      shape_text(target.shape())));
}

void require_target_2d(const Val& self, const Val& target) {
  require(target.rank() == 3, ErrorCode::runtime,
          fmt::format("only batches of spatial targets supported (3D tensors) but got targets of "
                      "dimension: {}",
                      target.rank()));
  require(self.rank() == 4, ErrorCode::runtime,
          fmt::format("only batches of spatial inputs supported (4D tensors), but got input of "
                      "dimension: {}",
                      self.rank()));
  const bool fits = self.size(0) == target.size(0) && self.size(2) == target.size(1) &&
                    self.size(3) == target.size(2);
  require(fits, ErrorCode::runtime,
          fmt::format("size mismatch (got input: {} , target: {}", shape_text(self.shape()),
                      shape_text(target.shape())));
}

// Where the target is a class, which, and how much it weighs.
struct Classes {
  Val counts, place, weight;
};

Classes classes_of(Tracer& t, const Val& self, const Val& given, const std::optional<Val>& weight,
                   const SymInt& ignore_index) {
  const Val target = class_numbers(given, self.rank() <= 2);
  require(!weight || weight->dtype() == self.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(self.dtype()),
                      aten_name(weight ? weight->dtype() : self.dtype())));
  const SymInt classes = self.size(class_dim(self));
  const DType type = opmath_type(self.dtype());
  const Val ignored = eq(target, full_like(target, ignore_index));
  const Val known = ge(target, Scalar(0)) & lt(target, full_like(target, classes));
  check(ignored | known, convert(target, DType::i64), ErrorCode::index,
        "Target {value} is out of bounds. Expected a class of input, or ignore_index");
  const Val counts = ~ignored & known, none = full_like(target, 0);
  const Val place = where(counts, target, none);
  Val w = t.constant(1.0, type, target.shape());
  if (weight && !weight->is_empty())
    w = opmath(t.wrap(t.builder().gather(weight->id(), {place.id()}, {0}, true, "target")));
  return {counts, place, where(counts, w, number(w, 0.0))};
}

// The element of each row's class; of no classes every target is ignored, and there is none to
// read.
Val chosen(Tracer& t, const Val& self, const Val& place) {
  const int64_t dim = class_dim(self);
  if (self.size(dim) == SymInt(0)) return t.constant(0, self.dtype(), place.shape());
  const Val at = unsqueeze(place, dim);
  return squeeze(t.prim1(Prim::gather_along_dim, {self, at}, {{"dim", dim}}), dim);
}

std::tuple<Val, Val> likelihood(Tracer& t, const Val& self, const Val& target,
                                const std::optional<Val>& weight, int64_t reduction,
                                const SymInt& ignore_index) {
  require_weight(weight, self);
  const DType type = self.dtype();
  if (!is_floating(type)) not_implemented_for("nll_loss_out_frame", type);
  require(target.dtype() == DType::i64 || target.dtype() == DType::u8, ErrorCode::runtime,
          fmt::format("expected target dtype to be Long or Byte, but got {}",
                      aten_name(target.dtype())));
  const Classes c = classes_of(t, self, target, weight, ignore_index);
  const Val value = opmath(chosen(t, self, c.place));
  // A class of no weight counts nothing, not even NaN.
  const Val terms = where(c.counts, -value * c.weight, number(value, 0.0));
  const bool each = reduction == kNone && (self.rank() == 2 || self.rank() == 4);
  if (each) return {convert(terms, type), t.constant(0, type)};
  const std::vector<int64_t> dims = dims_from(0, terms.rank());
  const Val total = reduce(Prim::reduce_sum, c.weight, dims, false);
  const Val sum = reduce(Prim::reduce_sum, terms, dims, false);
  return {convert(reduction == kMean ? sum / total : sum, type), convert(total, type)};
}

void require_single_total(const Val& total_weight) {
  require(total_weight.numel() == SymInt(1), ErrorCode::runtime,
          fmt::format("expected total_weight to be a single element tensor, got: {} ({} elements)",
                      shape_text(total_weight.shape()), total_weight.numel().hint()));
}

Val single_grad(const Val& grad_output) {
  require(grad_output.rank() <= 1 && grad_output.numel() == SymInt(1), ErrorCode::runtime,
          fmt::format("Expected a single element grad_output tensor, but got: {}",
                      shape_text(grad_output.shape())));
  return reshape(grad_output, {});
}

Val grad_of_each(const Val& grad_output, const Val& target) {
  require(equal_sizes(grad_output.shape(), target.shape()), ErrorCode::runtime,
          fmt::format("Expected a grad_output of the target's size {}, but got: {}",
                      shape_text(target.shape()), shape_text(grad_output.shape())));
  return grad_output;
}

Val likelihood_backward(Tracer& t, const Val& grad_output, const Val& self, const Val& target,
                        const std::optional<Val>& weight, int64_t reduction,
                        const SymInt& ignore_index, const Val& total_weight) {
  require_weight(weight, self);
  require_single_total(total_weight);
  const Classes c = classes_of(t, self, target, weight, ignore_index);
  const bool each = reduction == kNone && (self.rank() == 2 || self.rank() == 4);
  Val g = opmath(each ? grad_of_each(grad_output, c.place) : single_grad(grad_output));
  if (reduction == kMean) g = g / opmath(reshape(total_weight, {}));
  const Val slope = where(c.counts, -c.weight * g, number(c.weight, 0.0));
  const int64_t dim = class_dim(self);
  const Val zeros = t.constant(0, self.dtype(), self.shape());
  if (self.size(dim) == SymInt(0)) return zeros;
  return t.prim1(Prim::scatter_along_dim,
                 {zeros, unsqueeze(convert(c.place, DType::i64), dim),
                  unsqueeze(convert(slope, self.dtype()), dim)},
                 {{"dim", dim}});
}

}  // namespace

std::tuple<Val, Val> nll_loss_forward::decompose(Tracer& t, const Val& self, const Val& target,
                                                 const std::optional<Val>& weight,
                                                 int64_t reduction, SymInt ignore_index) {
  require_target(self, target);
  return likelihood(t, self, target, weight, reduction, ignore_index);
}

std::tuple<Val, Val> nll_loss2d_forward::decompose(Tracer& t, const Val& self, const Val& target,
                                                   const std::optional<Val>& weight,
                                                   int64_t reduction, SymInt ignore_index) {
  require_target_2d(self, target);
  return likelihood(t, self, target, weight, reduction, ignore_index);
}

Val nll_loss_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                 const Val& target, const std::optional<Val>& weight,
                                 int64_t reduction, SymInt ignore_index, const Val& total_weight) {
  require_target(self, target);
  return likelihood_backward(t, grad_output, self, target, weight, reduction, ignore_index,
                             total_weight);
}

Val nll_loss2d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                   const Val& target, const std::optional<Val>& weight,
                                   int64_t reduction, SymInt ignore_index,
                                   const Val& total_weight) {
  require_target_2d(self, target);
  return likelihood_backward(t, grad_output, self, target, weight, reduction, ignore_index,
                             total_weight);
}

Val nll_loss::decompose(Tracer& t, const Val& self, const Val& target,
                        const std::optional<Val>& weight, int64_t reduction, SymInt ignore_index) {
  require_target(self, target);
  return std::get<0>(likelihood(t, self, target, weight, reduction, ignore_index));
}

Val nll_loss2d::decompose(Tracer& t, const Val& self, const Val& target,
                          const std::optional<Val>& weight, int64_t reduction,
                          SymInt ignore_index) {
  require_target_2d(self, target);
  return std::get<0>(likelihood(t, self, target, weight, reduction, ignore_index));
}

namespace {

// Any number of dims behind the classes, as one.
Val likelihood_of_any_rank(Tracer& t, const Val& self, const Val& target,
                           const std::optional<Val>& weight, int64_t reduction,
                           const SymInt& ignore_index) {
  require(self.rank() >= 1, ErrorCode::value,
          fmt::format("Expected 1 or more dimensions (got {})", self.rank()));
  require(self.rank() == 1 || self.size(0) == target.size(0), ErrorCode::value,
          fmt::format("Expected input batch_size ({}) to match target batch_size ({}).",
                      self.size(0).hint(), target.rank() ? target.size(0).hint() : 1));
  if (self.rank() <= 2) {
    require_target(self, target);
    return std::get<0>(likelihood(t, self, target, weight, reduction, ignore_index));
  }
  const SymInts shape = self.shape();
  SymInts want = shape;
  want.erase(want.begin() + 1);
  require(
      equal_sizes(target.shape(), want), ErrorCode::runtime,
      fmt::format("Expected target size {}, got {}", shape_text(want), shape_text(target.shape())));
  const SymInt rest = prims::product(std::span(shape).subspan(2));
  const Val x = reshape(self, {shape[0], shape[1], SymInt(1), rest});
  const Val y = reshape(target, {shape[0], SymInt(1), rest});
  const Val loss = std::get<0>(likelihood(t, x, y, weight, reduction, ignore_index));
  return reduction == kNone ? reshape(loss, want) : loss;
}

}  // namespace

Val nll_loss_nd::decompose(Tracer& t, const Val& self, const Val& target,
                           const std::optional<Val>& weight, int64_t reduction,
                           SymInt ignore_index) {
  return likelihood_of_any_rank(t, self, target, weight, reduction, ignore_index);
}

namespace {

// --- cross entropy ---

Val along_classes(const Val& weight, const Val& like) {
  SymInts shape(static_cast<size_t>(like.rank()), SymInt(1));
  shape[static_cast<size_t>(class_dim(like))] = weight.size(0);
  return reshape(opmath(weight), shape);
}

// The mean is over the batch and what lies behind the classes.
Val reduced_over_batch(const Val& terms, const Val& like, int64_t reduction, DType type) {
  if (reduction != kMean) return reduced_loss(terms, reduction, type);
  const Val sum = reduce(Prim::reduce_sum, terms, dims_from(0, terms.rank()), false);
  const SymInt count = floor_div(like.numel(), max(like.size(class_dim(like)), 1));
  return convert(sum / full_like(sum, count), type);
}

// Targets that are probabilities of all classes.
Val against_probabilities(const Val& self, const Val& target, const std::optional<Val>& weight,
                          int64_t reduction, double smoothing) {
  Tracer& t = self.tracer();
  const int64_t dim = class_dim(self);
  const DType type = self.dtype();
  const Val log = opmath(t.prim1(Prim::log_softmax, {self}, {{"dim", dim}}));
  Val y = opmath(target);
  if (smoothing > 0) {
    y = y * Scalar(1 - smoothing);
    const Val share = full_like(y, smoothing) / full_like(y, self.size(dim));
    y = y + share;
  }
  Val terms = log * y;
  if (weight) terms = terms * along_classes(*weight, self);
  return reduced_over_batch(-reduce(Prim::reduce_sum, terms, {dim}, false), self, reduction, type);
}

// The loss of the target's class mixed with the mean of all classes' losses.
Val smoothed(Tracer& t, const Val& log, const Val& target, const std::optional<Val>& weight,
             int64_t reduction, const SymInt& ignore_index, double smoothing) {
  const int64_t dim = class_dim(log);
  const DType type = log.dtype();
  const Val nll = opmath(likelihood_of_any_rank(t, log, target, weight, reduction, ignore_index));
  const Classes c = classes_of(t, log, target, weight, ignore_index);
  Val all = opmath(log);
  if (weight) all = all * along_classes(*weight, log);
  const Val sums = -reduce(Prim::reduce_sum, all, {dim}, false);
  const Val terms = where(c.counts, sums, number(sums, 0.0));
  Val smooth = terms;
  if (reduction != kNone)
    smooth = reduce(Prim::reduce_sum, terms, dims_from(0, terms.rank()), false);
  if (reduction == kMean) {
    const Val counted = weight ? c.weight : convert(c.counts, terms.dtype());
    smooth = smooth / reduce(Prim::reduce_sum, counted, dims_from(0, counted.rank()), false);
  }
  const Val share = full_like(smooth, smoothing) / full_like(smooth, log.size(dim));
  return convert(nll * Scalar(1 - smoothing) + smooth * share, type);
}

}  // namespace

Val cross_entropy_loss::decompose(Tracer& t, const Val& self, const Val& target,
                                  const std::optional<Val>& weight, int64_t reduction,
                                  SymInt ignore_index, double label_smoothing) {
  const bool probabilities = equal_sizes(self.shape(), target.shape()) && self.rank() > 0;
  if (probabilities) {
    require(is_floating(target.dtype()), ErrorCode::runtime,
            fmt::format("Expected floating point type for target with class probabilities, got {}",
                        aten_name(target.dtype())));
    require(ignore_index < SymInt(0), ErrorCode::runtime,
            "ignore_index is not supported for floating point target");
    require_weight(weight, self);
    return against_probabilities(self, target, weight, reduction, label_smoothing);
  }
  require(label_smoothing >= 0 && label_smoothing <= 1, ErrorCode::runtime,
          fmt::format("label_smoothing must be between 0.0 and 1.0. Got: {}", label_smoothing));
  const int64_t dim = self.rank() == 0 ? 0 : class_dim(self);
  const Val log = t.call1("log_softmax.int", {self, dim});
  if (label_smoothing == 0)
    return likelihood_of_any_rank(t, log, target, weight, reduction, ignore_index);
  require_weight(weight, self);
  return smoothed(t, log, target, weight, reduction, ignore_index, label_smoothing);
}

namespace {

// --- margins between classes ---

struct Batch {
  Val input, target;  // [n, classes], [n]
  bool single;
};

Batch batch_of(const Val& self, const Val& target) {
  const bool single = self.rank() <= 1;
  const SymInt rows = single ? SymInt(1) : self.size(0);
  const bool valid =
      self.rank() == 2 ? !(self.size(1) == SymInt(0)) : single && !(self.numel() == SymInt(0));
  require(valid, ErrorCode::runtime,
          fmt::format("Expected non-empty vector or matrix with optional 0-dim batch size, but "
                      "got: {}",
                      shape_text(self.shape())));
  require(
      target.rank() <= 1 && target.numel() == rows, ErrorCode::runtime,
      fmt::format("multi_margin_loss: target tensor should be 1-D with size equal to the number "
                  "of input samples (batch size). Expected target size {}, but got {}. Input "
                  "has shape {}.",
                  shape_text({rows}), shape_text(target.shape()), shape_text(self.shape())));
  return {single ? reshape(self, {SymInt(1), self.numel()}) : self,
          reshape(class_numbers(target), {rows}), single};
}

struct Margins {
  Val excess;  // margin - x[target] + x, 0 for the target itself
  Val here;    // whether it is the target
  Val scale;   // of each row: its weight over the number of classes
};

Margins margins_of(Tracer& t, const Batch& b, const ScalarArg& margin,
                   const std::optional<Val>& weight) {
  const SymInts shape = b.input.shape();
  const Val x = opmath(b.input);
  const Val known = ge(b.target, Scalar(0)) & lt(b.target, full_like(b.target, shape[1]));
  check(known, convert(b.target, DType::i64), ErrorCode::runtime, "target out of range");
  const Val place = where(known, b.target, full_like(b.target, 0));
  const Val own = t.prim1(Prim::gather_along_dim, {x, unsqueeze(place, 1)}, {{"dim", int64_t{1}}});
  const Val here = eq(t.iota(shape, 1, DType::i64),
                      broadcast_to(unsqueeze(convert(place, DType::i64), 1), shape));
  const Val excess = t.scalar(margin, x.dtype()) - own + x;
  Val scale = number(own, 1.0) / full_like(own, shape[1]);
  if (weight) {
    require(weight->rank() <= 1 && weight->numel() == shape[1], ErrorCode::runtime,
            fmt::format("inconsistent weight size, expected {} but got {}", shape[1].hint(),
                        shape_text(weight->shape())));
    const Val weights = reshape(*weight, {shape[1]});
    scale =
        scale *
        unsqueeze(
            opmath(t.wrap(t.builder().gather(weights.id(), {place.id()}, {0}, true, "target"))), 1);
  }
  const Val open = ~here & gt(excess, Scalar(0.0));
  return {where(open, excess, number(excess, 0.0)), here, scale};
}

// What a class adds where it comes too near to the target; nothing where it does not, whatever the
// target's weight is.
Val within(const Margins& m, const Val& terms) {
  return where(gt(m.excess, Scalar(0.0)), terms, number(terms, 0.0));
}

int64_t power_of(const ScalarArg& p) {
  const double v = p.known().to_double();
  require(v == 1 || v == 2, ErrorCode::runtime, "only p == 1 and p == 2 supported");
  return static_cast<int64_t>(v);
}

}  // namespace

Val multi_margin_loss::decompose(Tracer& t, const Val& self, const Val& target, const ScalarArg& p,
                                 const ScalarArg& margin, const std::optional<Val>& weight,
                                 int64_t reduction) {
  const int64_t power = power_of(p);
  const Batch b = batch_of(self, target);
  const Margins m = margins_of(t, b, margin, weight);
  const Val terms = within(m, (power == 1 ? m.excess : m.excess * m.excess) * m.scale);
  Val rows = reduce(Prim::reduce_sum, terms, {1}, false);
  if (b.single || self.rank() < 2 || reduction != kNone) {
    const bool one = b.single && target.rank() == 0;
    if (reduction == kNone && !one) return convert(rows, self.dtype());
    if (one) return convert(reshape(rows, {}), self.dtype());
  }
  return reduced_loss(rows, reduction, self.dtype());
}

Val multi_margin_loss_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                          const Val& target, const ScalarArg& p,
                                          const ScalarArg& margin, const std::optional<Val>& weight,
                                          int64_t reduction) {
  if (!is_floating(self.dtype())) not_implemented_for("multi_margin_loss_backward", self.dtype());
  const int64_t power = power_of(p);
  const Batch b = batch_of(self, target);
  const Margins m = margins_of(t, b, margin, weight);
  const Val steepness = power == 1 ? number(m.excess, 1.0) : m.excess * Scalar(2.0);
  const Val slope = within(m, steepness * m.scale);
  const Val own = -reduce(Prim::reduce_sum, slope, {1}, true);
  Val g = opmath(grad_output);
  if (g.rank() == 1) g = unsqueeze(g, 1);
  if (reduction == kMean) g = g / full_like(g, b.input.size(0));
  const Val grad = where(m.here, broadcast_to(own, slope.shape()), slope) * g;
  return convert(reshape(grad, self.shape()), self.dtype());
}

namespace {

// --- several targets a row ---

// Targets count up to the first -1.
struct Targets {
  Val input, target;      // [n, classes]
  Val listed, is_target;  // whether the target at a place counts; whether a class is one
};

Targets targets_of(Tracer& t, const Val& self, const Val& target) {
  const bool valid = self.rank() <= 2 && !(self.numel() == SymInt(0) && self.rank() < 2) &&
                     (self.rank() < 2 || !(self.size(1) == SymInt(0)));
  require(valid, ErrorCode::runtime,
          fmt::format("Expected non-empty vector or matrix with optional 0-dim batch size, but "
                      "got: {}",
                      shape_text(self.shape())));
  require(equal_sizes(self.shape(), target.shape()) ||
              (self.rank() < 2 && target.numel() == self.numel()),
          ErrorCode::runtime,
          fmt::format("inconsistent target size: {} for input of size: {}",
                      shape_text(target.shape()), shape_text(self.shape())));
  const SymInts matrix = self.rank() == 2 ? self.shape() : SymInts{SymInt(1), self.numel()};
  Targets out{reshape(self, matrix), reshape(class_numbers(target), matrix), {}, {}};
  const Val& y = out.target;
  check(ge(y, Scalar(-1)) & lt(y, full_like(y, matrix[1])), convert(y, DType::i64),
        ErrorCode::runtime, "argument #2 'target' is out of range");
  const Val ended = convert(lt(y, Scalar(0)), DType::i64);
  out.listed = eq(t.prim1(Prim::scan_sum, {ended}, {{"dim", int64_t{1}}}), Scalar(0));
  // [n, place, class]
  const SymInts cube = {matrix[0], matrix[1], matrix[1]};
  const Val hit =
      eq(broadcast_to(unsqueeze(convert(y, DType::i64), 2), cube), t.iota(cube, 2, DType::i64)) &
      broadcast_to(unsqueeze(out.listed, 2), cube);
  out.is_target = reduce(Prim::reduce_or, hit, {1}, false);
  return out;
}

// For each place and class, by how much the margin of 1 is missed; 0 for targets.
Val misses(Tracer& t, const Targets& v, const Val& is_target) {
  const SymInts matrix = v.input.shape(), cube = {matrix[0], matrix[1], matrix[1]};
  const Val x = opmath(v.input);
  const Val place = where(v.listed, v.target, full_like(v.target, 0));
  const Val own = t.prim1(Prim::gather_along_dim, {x, place}, {{"dim", int64_t{1}}});
  const Val excess =
      Scalar(1.0) - broadcast_to(unsqueeze(own, 2), cube) + broadcast_to(unsqueeze(x, 1), cube);
  const Val open = broadcast_to(unsqueeze(v.listed, 2), cube) &
                   ~broadcast_to(unsqueeze(is_target, 1), cube) & gt(excess, Scalar(0.0));
  return where(open, excess, number(excess, 0.0));
}

}  // namespace

std::tuple<Val, Val> multilabel_margin_loss_forward::decompose(Tracer& t, const Val& self,
                                                               const Val& target,
                                                               int64_t reduction) {
  const Targets v = targets_of(t, self, target);
  const Val m = misses(t, v, v.is_target);
  const Val rows = reduce(Prim::reduce_sum, m, {1, 2}, false);
  const Val terms = rows / full_like(rows, v.input.size(1));
  const bool each = reduction == kNone && self.rank() == 2;
  const Val loss = each ? convert(terms, self.dtype())
                        : reduced_loss(terms, reduction == kNone ? kSum : reduction, self.dtype());
  return {loss, reshape(convert(v.is_target, self.dtype()), target.shape())};
}

Val multilabel_margin_loss::decompose(Tracer& t, const Val& self, const Val& target,
                                      int64_t reduction) {
  return std::get<0>(multilabel_margin_loss_forward::decompose(t, self, target, reduction));
}

Val multilabel_margin_loss_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                               const Val& target, int64_t reduction,
                                               const Val& is_target) {
  if (!is_floating(self.dtype()))
    not_implemented_for("multilabel_margin_loss_backward", self.dtype());
  const Targets v = targets_of(t, self, target);
  const SymInts matrix = v.input.shape(), cube = {matrix[0], matrix[1], matrix[1]};
  require(equal_sizes(is_target.shape(), target.shape()), ErrorCode::runtime,
          fmt::format("inconsistent is_target size: {} for target of size: {}",
                      shape_text(is_target.shape()), shape_text(target.shape())));
  const Val flags = logical(reshape(is_target, matrix));
  const Val open = convert(gt(misses(t, v, flags), Scalar(0.0)), opmath_type(self.dtype()));
  // Each miss pushes its class down and its target up.
  const Val per_place = reduce(Prim::reduce_sum, open, {2}, false);
  const Val hit = eq(broadcast_to(unsqueeze(convert(v.target, DType::i64), 2), cube),
                     t.iota(cube, 2, DType::i64));
  const Val spread = broadcast_to(unsqueeze(per_place, 2), cube);
  const Val up = reduce(Prim::reduce_sum, where(hit, spread, number(spread, 0.0)), {1}, false);
  const Val down = reduce(Prim::reduce_sum, open, {1}, false);
  Val g = opmath(grad_output);
  if (g.rank() == 1) g = unsqueeze(g, 1);
  SymInt share = matrix[1];
  if (reduction == kMean) share = share * matrix[0];
  const Val grad = (down - up) * g / full_like(down, share);
  return convert(reshape(grad, self.shape()), self.dtype());
}

}  // namespace primset::decomps
