#include "conformance/compare/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace primset::conformance {
namespace {

// The regularised upper incomplete gamma function, by its series or its continued fraction.
double gamma_q(double a, double x) {
  if (x <= 0) return 1;
  double factor = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 10000 && std::fabs(term) > std::fabs(sum) * 1e-16; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    return std::max(0.0, 1 - sum * factor);
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 10000; ++n) {
    double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return factor * h;
}

double normal_cdf(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

// P(X <= x) of a discrete distribution given by its weights from 0 on.
std::function<double(double)> cumulate(const std::function<double(int64_t)>& weight, int64_t high) {
  std::vector<double> sums;
  double sum = 0;
  for (int64_t k = 0; k <= high; ++k) sums.push_back(sum += weight(k));
  return [sums](double x) {
    auto k = static_cast<int64_t>(std::floor(x));
    if (k < 0) return 0.0;
    return sums[std::min(static_cast<size_t>(k), sums.size() - 1)];
  };
}

Distribution continuous(std::function<double(double)> cdf) {
  return {Distribution::Kind::continuous, std::move(cdf), 0, 0};
}

Distribution uniform(Parameters p) {
  return continuous([=](double x) { return std::clamp((x - p.a) / (p.b - p.a), 0.0, 1.0); });
}
Distribution normal(Parameters p) {
  return continuous([=](double x) { return normal_cdf((x - p.a) / p.b); });
}
Distribution log_normal(Parameters p) {
  return continuous([=](double x) { return x <= 0 ? 0 : normal_cdf((std::log(x) - p.a) / p.b); });
}
Distribution exponential(Parameters p) {
  return continuous([=](double x) { return x <= 0 ? 0 : -std::expm1(-p.a * x); });
}
Distribution cauchy(Parameters p) {
  return continuous([=](double x) { return 0.5 + std::atan((x - p.a) / p.b) / std::numbers::pi; });
}
// As ATen's standard_gamma: shape a, scale 1.
Distribution gamma(Parameters p) {
  return continuous([=](double x) { return x <= 0 ? 0 : 1 - gamma_q(p.a, x); });
}
Distribution bernoulli(Parameters p) {
  return {Distribution::Kind::discrete, [=](double x) { return x < 0   ? 0
                                                               : x < 1 ? 1 - p.a
                                                                       : 1; },
          0, 1};
}
// As ATen's geometric_: the number of the first success, from 1.
Distribution geometric(Parameters p) {
  auto high = static_cast<int64_t>(std::ceil(std::log(1e-9) / std::log1p(-p.a)));
  return {Distribution::Kind::discrete,
          [=](double x) { return x < 1 ? 0 : 1 - std::pow(1 - p.a, std::floor(x)); }, 1,
          std::max<int64_t>(2, high)};
}
Distribution integers(Parameters p) {
  auto low = static_cast<int64_t>(p.a), high = static_cast<int64_t>(p.b) - 1;
  return {Distribution::Kind::discrete,
          [=](double x) { return std::clamp((std::floor(x) - p.a + 1) / (p.b - p.a), 0.0, 1.0); },
          low, high};
}
Distribution poisson(Parameters p) {
  auto high = static_cast<int64_t>(p.a + 10 * std::sqrt(p.a) + 20);
  auto weight = [=](int64_t k) {
    double n = static_cast<double>(k);
    return std::exp(n * std::log(p.a) - p.a - std::lgamma(n + 1));
  };
  return {Distribution::Kind::discrete, cumulate(weight, high), 0, high};
}
Distribution binomial(Parameters p) {  // a trials of probability b
  auto weight = [=](int64_t k) {
    double n = static_cast<double>(k);
    return std::exp(std::lgamma(p.a + 1) - std::lgamma(n + 1) - std::lgamma(p.a - n + 1) +
                    n * std::log(p.b) + (p.a - n) * std::log1p(-p.b));
  };
  auto high = static_cast<int64_t>(p.a);
  return {Distribution::Kind::discrete, cumulate(weight, high), 0, high};
}

struct NamedDistribution {
  std::string_view op;
  Distribution (*make)(Parameters);
};
constexpr std::array kDistributions = {
    NamedDistribution{"uniform", uniform},       NamedDistribution{"rand", uniform},
    NamedDistribution{"rand_like", uniform},     NamedDistribution{"normal", normal},
    NamedDistribution{"randn", normal},          NamedDistribution{"randn_like", normal},
    NamedDistribution{"log_normal", log_normal}, NamedDistribution{"exponential", exponential},
    NamedDistribution{"cauchy", cauchy},         NamedDistribution{"_standard_gamma", gamma},
    NamedDistribution{"bernoulli", bernoulli},   NamedDistribution{"geometric", geometric},
    NamedDistribution{"random", integers},       NamedDistribution{"randint", integers},
    NamedDistribution{"randint_like", integers}, NamedDistribution{"poisson", poisson},
    NamedDistribution{"binomial", binomial},
};

std::string test_discrete(const Distribution& d, const std::vector<double>& sample) {
  size_t bins = static_cast<size_t>(std::min<int64_t>(d.high - d.low + 1, 64));
  double width = static_cast<double>(d.high - d.low + 1) / static_cast<double>(bins);
  auto low = static_cast<double>(d.low);
  std::vector<uint64_t> counts(bins + 1);  // the last one: beyond `high`
  for (double x : sample) {
    if (x < low || x != std::floor(x)) return fmt::format("{} is not a possible value", x);
    counts[std::min(bins, static_cast<size_t>((x - low) / width))]++;
  }
  std::vector<double> expected;
  double before = 0, n = static_cast<double>(sample.size());
  for (size_t i = 0; i < bins; ++i) {
    // The last integer of the bin.
    double last = std::ceil(low + width * static_cast<double>(i + 1)) - 1;
    double sum = d.cdf(last);
    expected.push_back((sum - before) * n);
    before = sum;
  }
  expected.push_back((1 - before) * n);
  double p = chi_square_p_value(counts, expected);
  return p < kReject ? fmt::format("chi-square has p = {:.3g} of {} values", p, n) : "";
}

}  // namespace

double ks_p_value(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  double n = static_cast<double>(sample.size()), distance = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    double f = cdf(sample[i]);
    distance =
        std::max({distance, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  // Kolmogorov's distribution with Stephens' correction for finite samples.
  double root = std::sqrt(n), x = distance * (root + 0.12 + 0.11 / root);
  if (x < 0.2) return 1;
  double p = 0;
  for (int k = 1; k <= 100; ++k) {
    double term = std::exp(-2 * x * x * k * k);
    p += (k % 2 ? 2 : -2) * term;
    if (term < 1e-18) break;
  }
  return std::clamp(p, 0.0, 1.0);
}

double chi_square_p_value(std::span<const uint64_t> counts, std::span<const double> expected) {
  double sum = 0, open_count = 0, open_expected = 0;
  int bins = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    open_count += static_cast<double>(counts[i]);
    open_expected += expected[i];
    bool last = i + 1 == counts.size();
    if (open_expected < 5 && !(last && bins == 0)) continue;
    double off = open_count - open_expected;
    sum += off * off / std::max(open_expected, 1e-300);
    ++bins;
    open_count = open_expected = 0;
  }
  // What was left over at the end: impossible values weigh fully.
  if (open_count > 0 || open_expected > 0) {
    double off = open_count - open_expected;
    sum += off * off / std::max(open_expected, 0.5);
  }
  return bins < 2 ? (sum > 50 ? 0 : 1) : gamma_q((bins - 1) / 2.0, sum / 2);
}

std::optional<Distribution> distribution(std::string_view op, Parameters parameters) {
  while (op.ends_with('_')) op.remove_suffix(1);
  for (const NamedDistribution& n : kDistributions) {
    if (n.op == op) return n.make(parameters);
  }
  return std::nullopt;
}

std::string test_fit(const Distribution& d, const std::vector<double>& sample) {
  for (double x : sample) {
    if (std::isnan(x)) return "a NaN was drawn";
  }
  if (d.kind == Distribution::Kind::discrete) return test_discrete(d, sample);
  double p = ks_p_value(sample, d.cdf);
  return p < kReject
             ? fmt::format("Kolmogorov-Smirnov has p = {:.3g} of {} values", p, sample.size())
             : "";
}

}  // namespace primset::conformance
