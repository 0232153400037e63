// Discrete Fourier transforms by their definition, one dim after another: n products an element.
#include <cmath>
#include <complex>
#include <numbers>

#include "prims/reference/float_format.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

using Complex = std::complex<long double>;

// An array of numbers while it is transformed.
struct Spectrum {
  Ints shape;
  std::vector<Complex> data;
};

Spectrum spectrum_of(const Array& x) {
  Spectrum s{x.shape, {}};
  for (const Element& e : x.data) s.data.emplace_back(e.re, e.im);
  return s;
}

std::vector<Complex> roots_of_unity(size_t n, bool forward) {
  std::vector<Complex> roots;
  for (size_t k = 0; k < n; ++k) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(n);
    roots.emplace_back(std::cos(angle), forward ? -std::sin(angle) : std::sin(angle));
  }
  return roots;
}

void transform(Spectrum& s, int64_t dim, bool forward) {
  const auto n = static_cast<size_t>(s.shape[static_cast<size_t>(dim)]);
  const std::vector<Complex> roots = roots_of_unity(n, forward);
  std::vector<Complex> line(n);
  for_each_group(s.shape, {dim}, [&](size_t, const std::vector<size_t>& at) {
    for (size_t k = 0; k < n; ++k) {
      Complex sum = 0;
      for (size_t j = 0, turn = 0; j < n; ++j, turn = (turn + k) % n)
        sum += s.data[at[j]] * roots[turn];
      line[k] = sum;
    }
    for (size_t k = 0; k < n; ++k) s.data[at[k]] = line[k];
  });
}

// `size` elements along dim; element k of the result is what `element(line, k)` makes of a line.
template <typename F>
Spectrum resized(const Spectrum& s, int64_t dim, int64_t size, F element) {
  Spectrum r{s.shape, {}};
  r.shape[static_cast<size_t>(dim)] = size;
  r.data.resize(static_cast<size_t>(element_count(r.shape)));
  std::vector<std::vector<Complex>> lines;
  for_each_group(s.shape, {dim}, [&](size_t, const std::vector<size_t>& at) {
    lines.emplace_back();
    for (size_t i : at) lines.back().push_back(s.data[i]);
  });
  for_each_group(r.shape, {dim}, [&](size_t group, const std::vector<size_t>& at) {
    for (size_t k = 0; k < at.size(); ++k) r.data[at[k]] = element(lines[group], k);
  });
  return r;
}

Spectrum halved(const Spectrum& s, int64_t dim) {
  const int64_t n = s.shape[static_cast<size_t>(dim)];
  return resized(s, dim, n / 2 + 1, [](const auto& line, size_t k) { return line[k]; });
}

// The spectrum of real values, of which the first half is given.
Spectrum completed(const Spectrum& s, int64_t dim, int64_t n) {
  return resized(s, dim, n, [n](const std::vector<Complex>& line, size_t k) {
    const size_t mirrored = k == 0 ? 0 : static_cast<size_t>(n) - k;
    if (k == mirrored) return Complex(line[k].real(), 0);
    return k < line.size() ? line[k] : std::conj(line[mirrored]);
  });
}

// What the elements of a transform have in common: the bound of the error of each.
struct Bound {
  long double magnitude = 0, inherited = 0;  // of what is added up
  bool undecided = false;

  void add(const Element& e) {
    magnitude += std::hypot(e.re, e.im);
    inherited += e.error;
    undecided |= e.undecided;
  }
};

// Of each group of elements that differ in dims alone, in the order of for_each_group.
std::vector<Bound> bounds(const Array& x, const Ints& dims) {
  std::vector<Bound> out;
  for_each_group(x.shape, dims, [&](size_t, const std::vector<size_t>& group) {
    Bound& b = out.emplace_back();
    for (size_t at : group) b.add(x.data[at]);
  });
  return out;
}

// Every element goes through some c log2(count) roundings beside what it is added to, whatever the
// algorithm. `terms`: how often an element of x counts.
Array finished(NodeRun& run, const Spectrum& s, const std::vector<Bound>& bounds, const Ints& dims,
               long double terms, int64_t count) {
  Array r = run.result(0);
  ElementOp op = run.op(r.dtype);
  const long double levels = count > 1 ? std::log2(static_cast<long double>(count)) : 0;
  const long double relative = op.tolerance.number * levels * unit_roundoff(op.compute);
  op.tolerance = {ToleranceKind::rounded, 0};
  for_each_group(r.shape, dims, [&](size_t group, const std::vector<size_t>& elements) {
    const Bound& b = bounds[group];
    const long double own = relative * terms * b.magnitude;
    const bool known = !b.undecided && terms * b.magnitude + own < format(op.compute).max_finite;
    const long double error = terms * b.inherited + own;
    for (size_t at : elements) {
      const Complex v = s.data[at];
      if (!known)
        r.data[at] = undecided_element();
      else
        r.data[at] = is_complex(r.dtype) ? rounded(op, v.real(), v.imag(), error)
                                         : rounded(op, v.real(), error);
    }
  });
  return r;
}

int64_t count_of(const Ints& shape, const Ints& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= shape[static_cast<size_t>(d)];
  return count;
}

std::vector<Array> fft_c2c(NodeRun& run) {
  const Ints& dims = run.ints("dims");
  Spectrum s = spectrum_of(run.x(0));
  for (int64_t d : dims) transform(s, d, run.flag("forward"));
  return {finished(run, s, bounds(run.x(0), dims), dims, 1, count_of(s.shape, dims))};
}

std::vector<Array> fft_r2c(NodeRun& run) {
  const Ints& dims = run.ints("dims");
  Spectrum s = spectrum_of(run.x(0));
  const int64_t count = count_of(s.shape, dims);
  for (int64_t d : dims) transform(s, d, true);
  return {finished(run, halved(s, dims.back()), bounds(run.x(0), dims), dims, 1, count)};
}

// Elements of the half that is given count for their conjugates too.
std::vector<Array> fft_c2r(NodeRun& run) {
  const Ints& dims = run.ints("dims");
  Spectrum s = spectrum_of(run.x(0));
  for (size_t i = 0; i + 1 < dims.size(); ++i) transform(s, dims[i], false);
  s = completed(s, dims.back(), run.size("n"));
  transform(s, dims.back(), false);
  return {finished(run, s, bounds(run.x(0), dims), dims, 2, count_of(s.shape, dims))};
}

}  // namespace

void add_fft_operations(OperationTable& t) {
  t.set(Prim::fft_c2c, fft_c2c);
  t.set(Prim::fft_r2c, fft_r2c);
  t.set(Prim::fft_c2r, fft_c2r);
}

}  // namespace primset::prims::reference
