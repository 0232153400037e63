// Tests whether numbers look as if they were drawn from a distribution. Seeds are fixed, so a
// verdict is the same on every run; a p-value below kReject is a failure.
#ifndef PRIMSET_CONFORMANCE_COMPARE_STATISTICS_H_
#define PRIMSET_CONFORMANCE_COMPARE_STATISTICS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace primset::conformance {

// One false alarm in a million cases; no run has more.
inline constexpr double kReject = 1e-6;

// Kolmogorov-Smirnov: the probability that a sample of a continuous distribution is as far from its
// distribution function or farther.
double ks_p_value(std::vector<double> sample, const std::function<double(double)>& cdf);

// Pearson's chi-square: the probability of counts as far from the expected ones or farther. Bins
// that expect less than 5 are merged with their neighbours.
double chi_square_p_value(std::span<const uint64_t> counts, std::span<const double> expected);

// The distribution of an operator's results, by the operator's name without a trailing '_' or an
// overload: "normal", "uniform", "exponential" ... Its parameters come from the call.
struct Distribution {
  enum class Kind { continuous, discrete } kind = Kind::continuous;
  std::function<double(double)> cdf;  // discrete: P(X <= x)
  // discrete: results are integers from `low` to `high`, tails cut where less than 1e-9 remains
  int64_t low = 0, high = 0;
};

// Empty when there is no such distribution here.
struct Parameters {
  double a = 0, b = 1;  // as the operator's arguments come: from/to, mean/std, lambda, p, df ...
};
std::optional<Distribution> distribution(std::string_view op, Parameters parameters);

// "": the sample fits; else what does not.
std::string test_fit(const Distribution& d, const std::vector<double>& sample);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_COMPARE_STATISTICS_H_
