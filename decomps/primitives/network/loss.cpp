// Connectionist temporal classification by forward and backward variables over the labels with
// blanks between them (Graves et al., 2006, sections 4.1 and 4.2), in logarithms.
#include "decomps/primitives/loss.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

Val impossible(const Val& like) {
  return math::number(like, -math::kInfinity);
}

// The logarithm of the sum of the exponentials; of -inf alone -inf.
Val log_sum(const std::vector<Val>& terms) {
  Val greatest = terms[0];
  for (const Val& term : terms) greatest = math::max(greatest, term);
  const Val none = eq(greatest, Scalar(-math::kInfinity));
  const Val shift = where(none, math::number(greatest, 0.0), greatest);
  Val sum = math::exp(terms[0] - shift);
  for (size_t i = 1; i < terms.size(); ++i) sum = sum + math::exp(terms[i] - shift);
  return where(none, greatest, math::log(sum) + shift);
}

// The states of a target are its labels with blanks before, between and behind them; the odd ones
// are labels. All arrays over states are [batch, states].
struct States {
  Val label;         // the class of each state
  Val place;         // its number
  Val end;           // twice the target's length: the number of the last state
  Val input_length;  // [batch, 1]
  Val emission;      // [time, batch, states], the logarithms of the labels' probabilities
  SymInt time, batch, count;
};

Val column(const Val& lengths) {
  return unsqueeze(convert(lengths, DType::i64), 1);
}

// x[n, s + by], and `outside` where there is no such state.
Val shifted(const Val& x, int64_t by, const Val& outside) {
  const SymInt count = x.size(1);
  const SymInt low = by < 0 ? SymInt(-by) : SymInt(0), high = by > 0 ? SymInt(by) : SymInt(0);
  Tracer& t = x.tracer();
  const Val wide = t.wrap(t.builder().pad(x.id(), outside.id(), {0, low}, {0, high}, {0, 0}));
  return slice(wide, 1, high, high + count, 1);
}

Val labels_of(Tracer& t, const Val& targets, const Val& place, const Val& end,
              const SymInt& classes, const SymInt& blank) {
  const Val blanks = full_like(place, blank);
  if (known_equal(targets.size(1), 0) == true) return blanks;
  const Val at =
      binary(Prim::min, place / full_like(place, 2), full_like(place, targets.size(1) - 1));
  const Val label =
      t.prim1(Prim::gather_along_dim, {convert(targets, DType::i64), at}, {{"dim", int64_t{1}}});
  const Val counts = eq(binary(Prim::rem, place, full_like(place, 2)), Scalar(1)) & lt(place, end);
  const Val known = ge(label, Scalar(0)) & lt(label, full_like(label, classes));
  check(known | ~counts, label, ErrorCode::runtime,
        "Expected targets to be classes of log_probs, but found {value}");
  return where(counts & known, label, blanks);
}

States states_of(Tracer& t, const Val& log_probs, const Val& targets, const Val& input_lengths,
                 const Val& target_lengths, const SymInt& blank) {
  States s;
  s.time = log_probs.size(0);
  s.batch = log_probs.size(1);
  s.count = 2 * targets.size(1) + 1;
  const SymInts shape = {s.batch, s.count};
  s.place = t.iota(shape, 1, DType::i64);
  s.end = broadcast_to(column(target_lengths) * Scalar(2), shape);
  s.input_length = column(input_lengths);
  s.label = labels_of(t, targets, s.place, s.end, log_probs.size(2), blank);
  const Val at = broadcast_to(unsqueeze(s.label, 0), {s.time, s.batch, s.count});
  s.emission = t.prim1(Prim::gather_along_dim, {opmath(log_probs), at}, {{"dim", int64_t{2}}});
  return s;
}

Val emission_at(const States& s, const Val& time) {
  Tracer& t = time.tracer();
  const Val zero = t.constant(0, DType::i64);
  const Val row = t.wrap(t.builder().dynamic_slice(
      s.emission.id(), {time.id(), zero.id(), zero.id()}, {1, s.batch, s.count}));
  return squeeze(row, 0);
}

// What flows into each state from itself, from the state next to it, and past a blank from the one
// behind that, unless both are the same label. `by` is -1 forward and 1 backward.
Val transitions(const States& s, const Val& variables, int64_t by) {
  Tracer& t = variables.tracer();
  const Val none = t.constant(-math::kInfinity, variables.dtype());
  const Val beyond = t.constant(-1, DType::i64);
  const Val other = shifted(s.label, 2 * by, beyond);
  const Val past =
      where(ne(other, s.label), shifted(variables, 2 * by, none), impossible(variables));
  return log_sum({variables, shifted(variables, by, none), past});
}

// `count` steps from `first` on: the variables after each, in a new first dim.
Val steps(Tracer& t, const Val& first, const SymInt& count,
          const std::function<Val(const Val& index, const Val& variables)>& step) {
  const std::vector<prims::ValueType> params = {{DType::i64, {}}, {first.dtype(), first.shape()}};
  const auto body = [&](const std::vector<Val>& v) {
    const Val next = step(v[0], v[1]);
    return std::vector<Val>{next, next};
  };
  return t.prim(Prim::for_loop, {first}, {{"count", count}, {"stacked", int64_t{1}}},
                {t.region(params, body)})[1];
}

// [time, batch, states]: of the paths up to a time that end in a state there.
Val forward_variables(Tracer& t, const States& s) {
  const Val start = emission_at(s, t.constant(0, DType::i64));
  const Val begins = le(s.place, binary(Prim::min, s.end, full_like(s.end, 1)));
  const Val first = where(begins, start, impossible(start));
  const Val rest = steps(t, first, s.time - 1, [&](const Val& index, const Val& variables) {
    return transitions(s, variables, -1) + emission_at(s, index + Scalar(1));
  });
  return concatenate({unsqueeze(first, 0), rest}, 0);
}

// The same of the paths from a time on to the end of the input; -inf behind it.
Val backward_variables(Tracer& t, const States& s) {
  const Val none = t.constant(-math::kInfinity, s.emission.dtype(), {s.batch, s.count});
  const Val last = s.input_length - Scalar(1);
  const Val ends = le(s.place, s.end) & ge(s.place, s.end - Scalar(1));
  const Val reversed = steps(t, none, s.time, [&](const Val& index, const Val& variables) {
    const Val time = t.constant(s.time - 1, DType::i64) - index;
    const Val emission = emission_at(s, time);
    return where(eq(last, time), where(ends, emission, none),
                 transitions(s, variables, 1) + emission);
  });
  return t.wrap(t.builder().reverse(reversed.id(), {0}));
}

// log_alpha[n, input length - 1, 2 target length + by], where there is such a state.
Val at_the_end(const Val& log_alpha, const Val& input_lengths, const Val& target_lengths,
               int64_t by) {
  Tracer& t = log_alpha.tracer();
  const SymInts shape = {log_alpha.size(0)};
  const Val zero = t.constant(0, DType::i64, shape);
  const Val last = convert(input_lengths, DType::i64) - Scalar(1);
  const Val state = convert(target_lengths, DType::i64) * Scalar(2) + Scalar(by);
  const Val time = binary(Prim::max, last, zero), place = binary(Prim::max, state, zero);
  const Val value = t.wrap(
      t.builder().gather(log_alpha.id(), {t.iota(shape, 0, DType::i64).id(), time.id(), place.id()},
                         {0, 1, 2}, false, "lengths"));
  return where(lt(state, zero), impossible(value), value);
}

}  // namespace

std::tuple<Val, Val> ctc_loss::decompose(Tracer& t, const Val& log_probs, const Val& targets,
                                         const Val& input_lengths, const Val& target_lengths,
                                         SymInt blank) {
  const States s = states_of(t, log_probs, targets, input_lengths, target_lengths, blank);
  const Val log_alpha = transpose(forward_variables(t, s), {1, 0, 2});
  const Val likelihood = log_sum({at_the_end(log_alpha, input_lengths, target_lengths, 0),
                                  at_the_end(log_alpha, input_lengths, target_lengths, -1)});
  // Nothing is heard: the only path is that of no label.
  const Val silent = eq(input_lengths, Scalar(0));
  const Val of_nothing = where(eq(target_lengths, Scalar(0)), math::number(likelihood, -0.0),
                               math::number(likelihood, math::kInfinity));
  const Val loss = where(silent, of_nothing, -likelihood);
  return {convert(loss, log_probs.dtype()), convert(log_alpha, log_probs.dtype())};
}

// The derivative by a logarithm is the probability there less the share of the paths that go
// through that class then. Each of these shares, alpha beta / (y p), is at most 1, so that they are
// added up as they are.
Val ctc_loss_backward::decompose(Tracer& t, const Val& grad, const Val& log_probs,
                                 const Val& targets, const Val& input_lengths,
                                 const Val& target_lengths, const Val& loss, const Val& log_alpha,
                                 SymInt blank, bool zero_infinity) {
  const States s = states_of(t, log_probs, targets, input_lengths, target_lengths, blank);
  const Val onward = backward_variables(t, s);
  const Val through = transpose(opmath(log_alpha), {1, 0, 2}) + onward;
  const Val cost = unsqueeze(opmath(loss), 1);  // [batch, 1]
  // No path leads on from the states behind a target's end, where log_alpha may be anything.
  const Val closed = eq(onward, Scalar(-math::kInfinity)) | eq(through, Scalar(-math::kInfinity));
  const Val share =
      where(closed, math::number(through, 0.0), math::exp(through - s.emission + cost));
  const SymInts shape = share.shape();
  const Val at = broadcast_to(unsqueeze(s.label, 0), shape);
  const Val sums = t.wrap(t.builder().scatter(
      Prim::scatter_add, t.constant(0.0, share.dtype(), log_probs.shape()).id(),
      {t.iota(shape, 0, DType::i64).id(), t.iota(shape, 1, DType::i64).id(), at.id()}, share.id(),
      {0, 1, 2}, true, false, "targets"));
  const Val hopeless = eq(cost, Scalar(math::kInfinity));
  const Val missing = math::number(cost, zero_infinity ? 0.0 : math::kNan);
  const Val slope = (math::exp(opmath(log_probs)) - sums) * unsqueeze(opmath(grad), 1);
  const Val times = t.iota(log_probs.shape(), 0, DType::i64);
  const Val result = where(hopeless, missing, slope);
  const Val heard = where(lt(times, s.input_length), result, math::number(result, 0.0));
  return convert(heard, log_probs.dtype());
}

}  // namespace primset::decomps::prim
