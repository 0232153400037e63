// Connectionist temporal classification: what is checked of targets and lengths, and how targets
// that stand one after another come to rows. The lengths of a list are part of the plan.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/loss.h"
#include "decomps/operators/loss/terms.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using Lengths = std::vector<int64_t>;

constexpr const char* kWhere = " (while checking arguments for ctc_loss_allocate_outputs)";

void require_lengths(const Lengths& lengths, const char* name, const Val& log_probs) {
  require(SymInt(static_cast<int64_t>(lengths.size())) == log_probs.size(1), ErrorCode::runtime,
          fmt::format("{} must be of size batch_size", name));
  for (int64_t n : lengths) {
    require(
        n >= 0, ErrorCode::runtime,
        fmt::format("Expected {} to have value at least 0, but got value {}{}", name, n, kWhere));
  }
}

int64_t greatest(const Lengths& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

Val vector_of(Tracer& t, const Lengths& numbers) {
  std::vector<Val> parts;
  for (int64_t n : numbers) parts.push_back(t.constant(n, DType::i64, {SymInt(1)}));
  return concatenate(parts, 0);
}

void require_target_rows(const Val& targets, const SymInt& batch) {
  require(targets.size(0) == batch, ErrorCode::runtime,
          fmt::format("Expected tensor to have size {} at dimension 0, but got size {} for "
                      "argument #2 'targets'{}",
                      batch.hint(), targets.size(0).hint(), kWhere));
}

// The targets as rows of the longest one's length: cut, or taken apart.
Val target_rows(Tracer& t, const Val& targets, const Lengths& lengths) {
  const SymInt longest = greatest(lengths);
  if (targets.rank() == 2) {
    require_target_rows(targets, static_cast<int64_t>(lengths.size()));
    require(targets.size(1) >= longest, ErrorCode::runtime,
            fmt::format("Expected tensor to have size at least {} at dimension 1, but got size {} "
                        "for argument #2 'targets'{}",
                        longest.hint(), targets.size(1).hint(), kWhere));
    return slice(targets, 1, 0, longest, 1);
  }
  require(targets.rank() == 1, ErrorCode::runtime,
          fmt::format("Expected targets of 1 or 2 dims, but got {}", targets.rank()));
  Lengths starts;
  int64_t total = 0;
  for (int64_t n : lengths) starts.push_back(total), total += n;
  require(targets.size(0) == SymInt(total), ErrorCode::runtime,
          fmt::format("Expected tensor to have size {} at dimension 0, but got size {} for "
                      "argument #2 'targets'{}",
                      total, targets.size(0).hint(), kWhere));
  const SymInts shape = {SymInt(static_cast<int64_t>(lengths.size())), longest};
  if (total == 0) return t.constant(0, targets.dtype(), shape);
  const Val place = unsqueeze(vector_of(t, starts), 1) + t.iota(shape, 1, DType::i64);
  const Val at = binary(Prim::min, place, full_like(place, total - 1));
  return t.wrap(t.builder().gather(targets.id(), {at.id()}, {0}, true, "targets"));
}

struct Alignment {
  Val log_probs, targets, input_lengths, target_lengths;
};

void require_arguments(const Val& log_probs, const Val& targets, int64_t blank) {
  require(!log_probs.is_empty(), ErrorCode::runtime, "log_probs tensor must not be empty");
  const DType type = log_probs.dtype();
  if (type != DType::f32 && type != DType::f64) not_implemented_for("ctc_loss_cpu", type);
  require(
      is_index(targets.dtype()), ErrorCode::runtime,
      fmt::format("Expected tensor for argument #2 'targets' to have scalar type Int; but got "
                  "torch.{}Tensor instead (while checking arguments for ctc_loss_allocate_outputs)",
                  aten_name(targets.dtype())));
  require(
      log_probs.rank() == 3, ErrorCode::runtime,
      fmt::format("Expected 3-dimensional tensor, but got {}-dimensional tensor for argument #1 "
                  "'log_probs' (while checking arguments for ctc_loss_allocate_outputs)",
                  log_probs.rank()));
  require(blank >= 0 && SymInt(blank) < log_probs.size(2), ErrorCode::runtime,
          "blank must be in label range");
}

Alignment aligned(Tracer& t, const Val& log_probs, const Val& targets, const Lengths& input_lengths,
                  const Lengths& target_lengths, int64_t blank) {
  require_arguments(log_probs, targets, blank);
  require_lengths(input_lengths, "input_lengths", log_probs);
  require_lengths(target_lengths, "target_lengths", log_probs);
  const int64_t longest = greatest(input_lengths);
  require(log_probs.size(0) >= SymInt(longest), ErrorCode::runtime,
          fmt::format("Expected input_lengths to have value at most {}, but got value {}{}",
                      log_probs.size(0).hint(), longest, kWhere));
  return {log_probs, target_rows(t, targets, target_lengths), vector_of(t, input_lengths),
          vector_of(t, target_lengths)};
}

// Lengths that only the device knows: those of targets cannot say how long the longest is, so that
// it is as long as the rows.
Alignment aligned(Tracer& t, const Val& log_probs, const Val& targets, const Val& input_lengths,
                  const Val& target_lengths, int64_t blank) {
  require_arguments(log_probs, targets, blank);
  require(targets.rank() == 2, ErrorCode::not_implemented,
          "ctc_loss: targets one after another need lengths in lists; pass targets of 2 dims");
  require_target_rows(targets, log_probs.size(1));
  const auto numbers = [&](const Val& lengths, const char* name, const SymInt& most) {
    require(is_integral(lengths.dtype()), ErrorCode::runtime,
            fmt::format("{} must be integral", name));
    require(lengths.rank() == 1 && lengths.size(0) == log_probs.size(1), ErrorCode::runtime,
            fmt::format("{} must be of size batch_size", name));
    const Val n = convert(lengths, DType::i64);
    check(ge(n, Scalar(0)) & le(n, full_like(n, most)), n, ErrorCode::runtime,
          fmt::format("{} are out of range: found {{value}}", name));
    return n;
  };
  return {log_probs, targets, numbers(input_lengths, "input_lengths", log_probs.size(0)),
          numbers(target_lengths, "target_lengths", targets.size(1))};
}

std::tuple<Val, Val> losses_of(Tracer& t, const Alignment& a, int64_t blank) {
  const auto r = t.prim(Prim::ctc_loss, {a.log_probs, a.targets, a.input_lengths, a.target_lengths},
                        {{"blank", SymInt(blank)}});
  return {r[0], r[1]};
}

// The alignments [batch, time, 2 targets + 1] may be of more targets than the longest: of none of
// its own.
Val gradient_of(Tracer& t, const Alignment& a, const Val& grad, const Val& loss,
                const Val& log_alpha, int64_t blank, bool zero_infinity) {
  constexpr const char* kName = "_ctc_loss_backward";
  const DType type = a.log_probs.dtype();
  const SymInt batch = a.log_probs.size(1), places = a.targets.size(1) * 2 + 1;
  require_dtype(kName, "grad", grad, type);
  require_dtype(kName, "neg_log_likelihood", loss, type);
  require_dtype(kName, "log_alpha", log_alpha, type);
  require_sizes(kName, "grad", grad, "the batch", {batch});
  require_sizes(kName, "neg_log_likelihood", loss, "the batch", {batch});
  require_rank(kName, "log_alpha", log_alpha, 3);
  const bool wider = log_alpha.size(2) > places;
  const Val alpha = wider ? slice(log_alpha, 2, 0, places, 1) : log_alpha;
  require_sizes(kName, "log_alpha", alpha, "all alignments", {batch, a.log_probs.size(0), places});
  return t.prim1(Prim::ctc_loss_backward,
                 {grad, a.log_probs, a.targets, a.input_lengths, a.target_lengths, loss, alpha},
                 {{"blank", SymInt(blank)}, {"zero_infinity", zero_infinity}});
}

// Without a batch as a batch of one; the mean is of the losses a label.
template <typename List>
Val reduced_ctc_loss(Tracer& t, const Val& log_probs, const Val& targets, const List& input_lengths,
                     const List& target_lengths, int64_t blank, int64_t reduction,
                     bool zero_infinity) {
  const bool batched = log_probs.rank() == 3;
  const Val labels = is_integral(targets.dtype()) ? convert(targets, DType::i64) : targets;
  const Alignment a =
      aligned(t, batched ? log_probs : unsqueeze(log_probs, 1),
              batched ? labels : unsqueeze(labels, 0), input_lengths, target_lengths, blank);
  Val loss = std::get<0>(losses_of(t, a, blank));
  if (zero_infinity) loss = where(eq(loss, Scalar(math::kInfinity)), math::number(loss, 0.0), loss);
  if (reduction == kMean) {
    const Val count = binary(Prim::max, a.target_lengths, full_like(a.target_lengths, 1));
    loss = loss / convert(count, loss.dtype());
  } else if (reduction == kNone && !batched) {
    loss = squeeze(loss, 0);
  }
  return reduced_loss(loss, reduction, log_probs.dtype());
}

}  // namespace

std::tuple<Val, Val> _ctc_loss::decompose(Tracer& t, const Val& log_probs, const Val& targets,
                                          const Lengths& input_lengths,
                                          const Lengths& target_lengths, int64_t blank, bool) {
  return losses_of(t, aligned(t, log_probs, targets, input_lengths, target_lengths, blank), blank);
}

std::tuple<Val, Val> _ctc_loss_of_tensors::decompose(Tracer& t, const Val& log_probs,
                                                     const Val& targets, const Val& input_lengths,
                                                     const Val& target_lengths, int64_t blank,
                                                     bool) {
  return losses_of(t, aligned(t, log_probs, targets, input_lengths, target_lengths, blank), blank);
}

Val _ctc_loss_backward::decompose(Tracer& t, const Val& grad, const Val& log_probs,
                                  const Val& targets, const Lengths& input_lengths,
                                  const Lengths& target_lengths, const Val& neg_log_likelihood,
                                  const Val& log_alpha, int64_t blank, bool zero_infinity) {
  return gradient_of(t, aligned(t, log_probs, targets, input_lengths, target_lengths, blank), grad,
                     neg_log_likelihood, log_alpha, blank, zero_infinity);
}

Val _ctc_loss_backward_of_tensors::decompose(Tracer& t, const Val& grad, const Val& log_probs,
                                             const Val& targets, const Val& input_lengths,
                                             const Val& target_lengths,
                                             const Val& neg_log_likelihood, const Val& log_alpha,
                                             int64_t blank, bool zero_infinity) {
  // ATen's alignments are of the longest target, which only the device knows.
  const bool wider =
      targets.rank() == 2 && log_alpha.rank() == 3 && targets.size(1) * 2 + 1 > log_alpha.size(2);
  const Val labels = wider ? slice(targets, 1, 0, floor_div(log_alpha.size(2), 2), 1) : targets;
  return gradient_of(t, aligned(t, log_probs, labels, input_lengths, target_lengths, blank), grad,
                     neg_log_likelihood, log_alpha, blank, zero_infinity);
}

Val ctc_loss::decompose(Tracer& t, const Val& log_probs, const Val& targets,
                        const Lengths& input_lengths, const Lengths& target_lengths, int64_t blank,
                        int64_t reduction, bool zero_infinity) {
  return reduced_ctc_loss(t, log_probs, targets, input_lengths, target_lengths, blank, reduction,
                          zero_infinity);
}

Val ctc_loss_of_tensors::decompose(Tracer& t, const Val& log_probs, const Val& targets,
                                   const Val& input_lengths, const Val& target_lengths,
                                   int64_t blank, int64_t reduction, bool zero_infinity) {
  return reduced_ctc_loss(t, log_probs, targets, input_lengths, target_lengths, blank, reduction,
                          zero_infinity);
}

}  // namespace primset::decomps
