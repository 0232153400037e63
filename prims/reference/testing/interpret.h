// Arrays from literals, one primitive run on them, and results as plain numbers, for tests.
#ifndef PRIMSET_PRIMS_REFERENCE_TESTING_INTERPRET_H_
#define PRIMSET_PRIMS_REFERENCE_TESTING_INTERPRET_H_

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "prims/graph/builder.h"
#include "prims/graph/text.h"
#include "prims/reference/array.h"
#include "prims/reference/element.h"
#include "prims/reference/float_format.h"
#include "primset/error.h"

namespace primset::prims::reference {

inline constexpr double kInf = HUGE_VAL;
inline const double kNan = std::nan("");

// Rounded to the dtype.
inline Array array(DType t, Ints shape, const std::vector<double>& values) {
  Array a = make_array(t, std::move(shape));
  EXPECT_EQ(a.data.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    a.data[i] = convert(real_element(values[i]), DType::f64, t);
  }
  return a;
}

inline Array f32(Ints shape, const std::vector<double>& values) {
  return array(DType::f32, std::move(shape), values);
}

inline Array vector(DType t, const std::vector<double>& values) {
  return array(t, {static_cast<int64_t>(values.size())}, values);
}

inline Array integers(DType t, const std::vector<int64_t>& values) {
  Array a = make_array(t, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) a.data[i].integer = wrap(values[i], t);
  return a;
}

inline Array number(DType t, double v) {
  return array(t, {}, {v});
}

inline Array with_errors(Array a, const std::vector<double>& errors) {
  for (size_t i = 0; i < errors.size(); ++i) a.data[i].error = errors[i];
  return a;
}

using Build = std::function<Builder::Values(Builder&, const Builder::Values&)>;

// Builds a graph over inputs of the arrays' types and runs it.
inline Result run_graph(const std::vector<Array>& inputs, const Build& build,
                        PermittedDeviations deviations = {}) {
  Graph g;
  Builder b(g);
  Builder::Values values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    SymInts shape(inputs[i].shape.begin(), inputs[i].shape.end());
    values.push_back(b.tensor_input("x" + std::to_string(i), {inputs[i].dtype, shape}));
  }
  for (ValueId v : build(b, values)) b.output("y", v);
  return run(g, inputs, {}, deviations);
}

inline Result run_prim(Prim p, const std::vector<Array>& inputs, std::vector<Attr> attrs = {}) {
  return run_graph(inputs,
                   [&](Builder& b, const Builder::Values& v) { return b.add(p, v, attrs); });
}

inline Array first(const Result& r) {
  return r.outputs.at(0);
}

inline double plain(DType t, const Element& e) {
  if (is_floating(t) || is_complex(t)) return static_cast<double>(e.re);
  if (t == DType::u64) return static_cast<double>(static_cast<uint64_t>(e.integer));
  return static_cast<double>(e.integer);
}

inline std::string show(double v) {
  if (std::isnan(v)) return "nan";
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", v);
  return text;
}

// The same numbers bit by bit (NaN for NaN, -0 apart from 0), decided and in the same dtype.
inline void expect_equal(const Array& got, const Array& want) {
  ASSERT_EQ(got.dtype, want.dtype) << name(got.dtype);
  ASSERT_EQ(got.shape, want.shape);
  for (size_t i = 0; i < want.data.size(); ++i) {
    EXPECT_FALSE(got.data[i].undecided) << "element " << i;
    EXPECT_EQ(show(plain(got.dtype, got.data[i])), show(plain(want.dtype, want.data[i])))
        << "element " << i;
    EXPECT_EQ(show(static_cast<double>(got.data[i].im)), show(static_cast<double>(want.data[i].im)))
        << "imaginary part of element " << i;
    EXPECT_EQ(got.data[i].integer, want.data[i].integer) << "element " << i;
  }
}

inline std::vector<bool> undecided(const Array& a) {
  std::vector<bool> out;
  for (const Element& e : a.data) out.push_back(e.undecided);
  return out;
}

struct PrimCase {
  Prim prim;
  std::vector<Array> inputs;
  Array want;
  std::vector<Attr> attrs = {};
};

inline void expect_cases(const std::vector<PrimCase>& cases) {
  for (const PrimCase& c : cases) {
    SCOPED_TRACE(std::string(info(c.prim).name) + " of " +
                 std::string(c.inputs.empty() ? "nothing" : name(c.inputs[0].dtype)));
    expect_equal(first(run_prim(c.prim, c.inputs, c.attrs)), c.want);
  }
}

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_TESTING_INTERPRET_H_
