#include "backends/cpu/byte_filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace primset_cpu {
namespace {

// Of distances that are not negative.
double linear_weight(double x) {
  return std::max(1 - x, 0.0);
}

double cubic_weight(double x) {
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double sinc(double x) {
  const double u = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(u) / u;
}

double lanczos_weight(double x) {
  return x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

struct Shape {
  std::string_view name;
  double width;
  double (*weight)(double distance);
};

constexpr Shape kShapes[] = {
    {"linear", 2, linear_weight}, {"cubic", 4, cubic_weight}, {"lanczos", 6, lanczos_weight}};

// Weights of at most `taps` neighbours around the centre of a place, which add up to 1.
int32_t add_weights(const Shape& shape, double scale, double center, int64_t in, int64_t taps,
                    double* weights) {
  const double stretch = std::max(scale, 1.0), support = stretch * shape.width / 2;
  const auto last = static_cast<double>(in);
  const auto first = static_cast<int64_t>(std::clamp(center - support + 0.5, 0.0, last));
  const auto end = static_cast<int64_t>(std::clamp(center + support + 0.5, 0.0, last));
  double total = 0;
  for (int64_t k = 0; k < std::min(taps, end - first); ++k) {
    const auto position = static_cast<double>(first + k);
    total += weights[k] = shape.weight(std::fabs((position - center + 0.5) / stretch));
  }
  if (total != 0) std::for_each(weights, weights + taps, [&](double& w) { w /= total; });
  return static_cast<int32_t>(first);
}

int binary_places(double greatest) {
  int digits = 0;
  while (digits < 22 && std::ldexp(greatest, digits + 1) + 0.5 < 32768) ++digits;
  return digits;
}

}  // namespace

ByteFilter byte_filter(std::string_view name, double scale, int64_t in, int64_t places,
                       int64_t reach) {
  const Shape& shape = *std::ranges::find(kShapes, name, &Shape::name);
  ByteFilter f{in, places, reach, 0, {}, {}};
  std::vector<double> weights(static_cast<size_t>(places * reach));
  for (int64_t i = 0; i < places; ++i)
    f.first.push_back(add_weights(shape, scale, (static_cast<double>(i) + 0.5) * scale, in, reach,
                                  weights.data() + i * reach));
  f.digits = binary_places(*std::ranges::max_element(weights));
  for (const double w : weights)
    f.weights.push_back(static_cast<int32_t>(std::ldexp(w, f.digits) + (w < 0 ? -0.5 : 0.5)));
  return f;
}

}  // namespace primset_cpu
