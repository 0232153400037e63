// Resampling against dense matrices: a row for each element of the result, made from the filter's
// formula. Adjoints are the matrices transposed.
#include <functional>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Matrix = std::vector<std::vector<double>>;

double cubic_kernel(double x, double a) {
  x = std::fabs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

double lanczos_kernel(double x) {
  if (std::fabs(x) >= 3) return 0;
  if (x == 0) return 1;
  const double u = 3.14159265358979323846 * x;
  return 3 * std::sin(u) * std::sin(u / 3) / (u * u);
}

double triangle(double x) {
  return std::max(0.0, 1 - std::fabs(x));
}

using Kernel = std::function<double(double)>;

struct Resize {
  int64_t in, out;
  double scale;
  bool align_corners = false;

  double source(int64_t o) const {
    const auto at = static_cast<double>(o);
    return align_corners ? scale * at : scale * (at + 0.5) - 0.5;
  }
};

// What is beyond the border counts as the border.
Matrix interpolation_matrix(const Resize& r, const Kernel& kernel) {
  Matrix m(static_cast<size_t>(r.out), std::vector<double>(static_cast<size_t>(r.in), 0));
  for (int64_t o = 0; o < r.out; ++o) {
    for (int64_t i = -4; i < r.in + 4; ++i) {
      const auto kept = static_cast<size_t>(std::clamp<int64_t>(i, 0, r.in - 1));
      m[static_cast<size_t>(o)][kept] += kernel(r.source(o) - static_cast<double>(i));
    }
  }
  return m;
}

Matrix nearest_matrix(const Resize& r, double shift) {
  Matrix m(static_cast<size_t>(r.out), std::vector<double>(static_cast<size_t>(r.in), 0));
  for (int64_t o = 0; o < r.out; ++o) {
    const double at = std::floor((static_cast<double>(o) + shift) * r.scale);
    m[static_cast<size_t>(o)][static_cast<size_t>(std::min(at, static_cast<double>(r.in - 1)))] = 1;
  }
  return m;
}

Matrix antialiasing_matrix(const Resize& r, const Kernel& kernel) {
  Matrix m(static_cast<size_t>(r.out), std::vector<double>(static_cast<size_t>(r.in), 0));
  const double stretch = std::max(r.scale, 1.0);
  for (int64_t o = 0; o < r.out; ++o) {
    double total = 0;
    std::vector<double>& row = m[static_cast<size_t>(o)];
    const double center = r.scale * (static_cast<double>(o) + 0.5);
    for (int64_t i = 0; i < r.in; ++i)
      total += row[static_cast<size_t>(i)] =
          kernel((static_cast<double>(i) + 0.5 - center) / stretch);
    for (double& w : row) w /= total;
  }
  return m;
}

std::vector<double> values(int64_t count) {
  std::vector<double> v;
  for (int64_t i = 0; i < count; ++i) v.push_back(static_cast<double>((i * 29 + 7) % 31) / 8 - 1.5);
  return v;
}

// a x b^T for x of as many rows as a has columns.
std::vector<double> applied(const Matrix& a, const Matrix& b, const std::vector<double>& x) {
  std::vector<double> y;
  const size_t columns = b[0].size();
  for (const auto& row : a) {
    for (const auto& other : b) {
      double sum = 0;
      for (size_t i = 0; i < row.size(); ++i)
        for (size_t j = 0; j < columns; ++j) sum += row[i] * other[j] * x[i * columns + j];
      y.push_back(sum);
    }
  }
  return y;
}

Matrix transposed(const Matrix& m) {
  Matrix t(m[0].size(), std::vector<double>(m.size()));
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t j = 0; j < m[0].size(); ++j) t[j][i] = m[i][j];
  return t;
}

struct Sizes {
  Resize high, wide;
  prims::SymInts in() const { return {high.in, wide.in}; }
  prims::SymInts out() const { return {high.out, wide.out}; }
  std::vector<Array> with_scales(const Array& x) const {
    return {x, array(DType::f64, {}, {high.scale}), array(DType::f64, {}, {wide.scale})};
  }
};

// Dims that grow, shrink, grow much, and keep their size.
std::vector<Sizes> sizes() {
  return {{{4, 9, 4.0 / 9}, {7, 5, 7.0 / 5}},
          {{3, 31, 3.0 / 31}, {40, 6, 40.0 / 6}},
          {{6, 6, 1}, {5, 10, 0.5}}};
}

Sizes aligned(Sizes s) {
  for (Resize* r : {&s.high, &s.wide}) {
    r->scale = static_cast<double>(r->in - 1) / static_cast<double>(r->out - 1);
    r->align_corners = true;
  }
  return s;
}

void expect_interpolation(Prim p, const Sizes& s, const Kernel& kernel, const char* filter) {
  const Matrix high = interpolation_matrix(s.high, kernel);
  const Matrix wide = interpolation_matrix(s.wide, kernel);
  const std::vector<double> x = values(s.high.in * s.wide.in), g = values(s.high.out * s.wide.out);
  const bool corners = s.high.align_corners;
  expect_near(derived(p, s.with_scales(array(DType::f64, {s.high.in, s.wide.in}, x)),
                      {{"size", s.out()}, {"align_corners", corners}}),
              {s.high.out, s.wide.out}, applied(high, wide, x), 1e-12, 1e-12);
  for (int64_t slack : {0, 2, -1}) {
    expect_near(derived(Prim::resample_backward,
                        s.with_scales(array(DType::f64, {s.high.out, s.wide.out}, g)),
                        {{"size", s.in()},
                         {"filter", std::string(filter)},
                         {"align_corners", corners},
                         {"reach", prims::SymInts{4, 4}},
                         {"slack", slack}}),
                {s.high.in, s.wide.in}, applied(transposed(high), transposed(wide), g), 1e-12,
                1e-12);
  }
}

TEST(Resample, LinearAndCubic) {
  for (const Sizes& plain : sizes()) {
    for (const Sizes& s : {plain, aligned(plain)}) {
      expect_interpolation(Prim::resample_linear, s, triangle, "linear");
      expect_interpolation(
          Prim::resample_cubic, s, [](double x) { return cubic_kernel(x, -0.75); }, "cubic");
    }
  }
}

TEST(Resample, AdjointOfNearest) {
  for (const Sizes& s : sizes()) {
    for (const auto& [filter, shift] : {std::pair("nearest", 0.0), {"nearest_exact", 0.5}}) {
      const Matrix high = nearest_matrix(s.high, shift), wide = nearest_matrix(s.wide, shift);
      const std::vector<double> g = values(s.high.out * s.wide.out);
      const Array got = derived(Prim::resample_backward,
                                s.with_scales(array(DType::f64, {s.high.out, s.wide.out}, g)),
                                {{"size", s.in()},
                                 {"filter", std::string(filter)},
                                 {"align_corners", false},
                                 {"reach", prims::SymInts{1, 1}},
                                 {"slack", int64_t{1}}});
      const std::vector<double> want = applied(transposed(high), transposed(wide), g);
      for (size_t i = 0; i < want.size(); ++i) {
        // An index that is an integer up to rounding may be either.
        if (got.data[i].undecided) continue;
        EXPECT_NEAR(prims::reference::plain(DType::f64, got.data[i]), want[i], 1e-12)
            << filter << " " << i;
      }
    }
  }
}

TEST(Resample, AntialiasingFilters) {
  const std::tuple<const char*, Kernel, int64_t> kFilters[] = {
      {"linear", triangle, 2},
      {"cubic", [](double x) { return cubic_kernel(x, -0.5); }, 4},
      {"lanczos", lanczos_kernel, 6}};
  for (const Sizes& s : sizes()) {
    for (const auto& [filter, kernel, width] : kFilters) {
      const Matrix high = antialiasing_matrix(s.high, kernel);
      const Matrix wide = antialiasing_matrix(s.wide, kernel);
      const auto reach = [&](const Resize& r) {
        const double covered = static_cast<double>(width) * std::max(1.0, r.scale);
        return static_cast<int64_t>(std::ceil(covered)) + 1;
      };
      const prims::SymInts reaches = {reach(s.high), reach(s.wide)};
      const std::vector<double> x = values(s.high.in * s.wide.in);
      const std::vector<double> g = values(s.high.out * s.wide.out);
      expect_near(derived(Prim::resample_antialias,
                          s.with_scales(array(DType::f64, {s.high.in, s.wide.in}, x)),
                          {{"size", s.out()}, {"filter", std::string(filter)}, {"reach", reaches}}),
                  {s.high.out, s.wide.out}, applied(high, wide, x), 1e-7, 1e-7);
      expect_near(derived(Prim::resample_backward,
                          s.with_scales(array(DType::f64, {s.high.out, s.wide.out}, g)),
                          {{"size", s.in()},
                           {"filter", std::string("antialias_") + filter},
                           {"align_corners", false},
                           {"reach", reaches},
                           {"slack", int64_t{0}}}),
                  {s.high.in, s.wide.in}, applied(transposed(high), transposed(wide), g), 1e-7,
                  1e-7);
    }
  }
}

// PyTorch 2.13, upsample_bilinear2d and _upsample_bicubic2d_aa of bytes.
TEST(Resample, BytesByFixedPoint) {
  const Array x = array(DType::u8, {2, 3}, {1, 200, 3, 255, 0, 17});
  const std::vector<Array> operands = {x, array(DType::f64, {}, {2.0 / 3}),
                                       array(DType::f64, {}, {0.6})};
  const DeviceTraits device{.fast_f64 = true};
  expect_near(derived(Prim::resample_linear, operands,
                      {{"size", prims::SymInts{3, 5}}, {"align_corners", false}}, device),
              {3, 5}, {1, 81, 200, 82, 3, 128, 117, 100, 46, 10, 255, 153, 0, 10, 17}, 0);
  expect_near(derived(Prim::resample_antialias, operands,
                      {{"size", prims::SymInts{3, 5}},
                       {"filter", std::string("cubic")},
                       {"reach", prims::SymInts{5, 5}}},
                      device),
              {3, 5}, {0, 74, 213, 86, 0, 128, 123, 100, 41, 9, 255, 171, 0, 0, 19}, 0);
}

// The value of an image at a place of the grid is its bilinear interpolation, and what is added at
// the places gives back the inner product with the image.
TEST(GridSample, GradientByTheImageIsTheAdjoint) {
  const std::vector<double> image = values(12),
                            places = {-0.9, -0.3, 0.2, 0.85, 1.3, 0.1, 0.4, -1.7};
  const std::vector<double> grad = {1.5, -2, 0.25, 3};
  for (const char* mode : {"bilinear", "nearest", "bicubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      const std::vector<prims::Attr> attrs = {
          {"mode", std::string(mode)}, {"padding", std::string(padding)}, {"align_corners", false}};
      const Array x = array(DType::f64, {1, 1, 3, 4}, image);
      const Array grid = array(DType::f64, {1, 2, 2, 2}, places);
      const Array y = derived(Prim::grid_sample, {x, grid}, attrs);
      const Array back = derived(Prim::grid_sample_backward,
                                 {array(DType::f64, {1, 1, 2, 2}, grad), x, grid}, attrs);
      double forward = 0, adjoint = 0;
      for (size_t i = 0; i < 4; ++i)
        forward += grad[i] * prims::reference::plain(DType::f64, y.data[i]);
      for (size_t i = 0; i < 12; ++i)
        adjoint += image[i] * prims::reference::plain(DType::f64, back.data[i]);
      EXPECT_NEAR(forward, adjoint, 1e-12) << mode << " " << padding;
    }
  }
}

TEST(GridSample, GradientByTheGridIsTheSlope) {
  const std::vector<double> image = values(12), places = {-0.9, -0.31, 0.2, 0.55};
  constexpr double kStep = 1e-6;
  for (const char* mode : {"bilinear", "bicubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      const std::vector<prims::Attr> attrs = {
          {"mode", std::string(mode)}, {"padding", std::string(padding)}, {"align_corners", true}};
      const Array x = array(DType::f64, {1, 1, 3, 4}, image);
      const auto sampled = [&](const std::vector<double>& at) {
        const Array y = derived(Prim::grid_sample, {x, array(DType::f64, {1, 1, 2, 2}, at)}, attrs);
        return prims::reference::plain(DType::f64, y.data[0]) +
               prims::reference::plain(DType::f64, y.data[1]);
      };
      const Result r = run_derived(
          Prim::grid_sample_backward,
          {array(DType::f64, {1, 1, 1, 2}, {1, 1}), x, array(DType::f64, {1, 1, 2, 2}, places)},
          attrs);
      for (size_t i = 0; i < places.size(); ++i) {
        std::vector<double> above = places, below = places;
        above[i] += kStep;
        below[i] -= kStep;
        const double slope = (sampled(above) - sampled(below)) / (2 * kStep);
        EXPECT_NEAR(prims::reference::plain(DType::f64, r.outputs[1].data[i]), slope, 1e-7)
            << mode << " " << padding << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace primset::decomps
