// Operators traced, expanded into core primitives, run by the reference interpreter and held
// against what PyTorch 2.13.0 gave: testdata/rows, a file a family and a case a line.
//
//   gather self=f32[2,3]{1 2 3 4 5 6} dim=1 index=i64[2,1]{2 0} -> f32[2,1]{3 4}
//   gather self=f32[3]{1 2 3} dim=0 index=i64[1]{5} -> !index "index 5 is out of bounds ..."
//
// Tensors are dtype[sizes]{values in row-major order}, with @(strides) where they are not
// contiguous; complex values stand as re,im. Lists are (a b c), strings 'sum', dtypes :f64. Several
// results stand one behind the other. An error is its code and the beginning of its message, or of
// what the device reports. `*` accepts any values and `~` in front of a result any strides.
// Arguments left out take the schema's defaults. All sizes above 1 are symbols. Lines that begin
// with # are remarks. testdata/fill_rows.py writes the right-hand sides.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "decomps/engine/engine.h"
#include "prims/reference/reference.h"
#include "specs/bundle/reader.h"

namespace primset::decomps {
namespace {

using prims::reference::Array;
using prims::reference::Element;
using Ints = std::vector<int64_t>;

struct OperatorRun {
  TracedCall call;
  std::vector<Array> results;  // one an output of the call; empty for pure views
  std::vector<Ints> strides;
  std::string failure;  // what the device reported: "index: ..."
};

// --- reading cases ---

class Text {
 public:
  explicit Text(std::string s) : s_(std::move(s)) {}

  void spaces() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n')) ++at_;
  }
  bool done() {
    spaces();
    return at_ >= s_.size();
  }
  char peek() const { return at_ < s_.size() ? s_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw std::runtime_error(fmt::format("'{}' expected at {} of {}", c, at_, s_));
  }
  std::string until(std::string_view ends) {
    const size_t start = at_;
    while (at_ < s_.size() && ends.find(s_[at_]) == std::string_view::npos) ++at_;
    return s_.substr(start, at_ - start);
  }
  std::string rest() const { return s_.substr(std::min(at_, s_.size())); }

 private:
  std::string s_;
  size_t at_ = 0;
};

long double number(const std::string& s) {
  if (s == "true" || s == "false") return s == "true";
  return std::strtold(s.c_str(), nullptr);
}

Element element(const std::string& s, DType t) {
  Element e;
  if (is_complex(t)) {
    const size_t comma = s.find(',');
    e.re = number(s.substr(0, comma));
    if (comma != std::string::npos) e.im = number(s.substr(comma + 1));
  } else if (is_floating(t)) {
    e.re = number(s);
    // Literals of f32 are decimal.
    if (t == DType::f32) e.re = static_cast<float>(e.re);
  } else if (s == "true" || s == "false") {
    e.integer = s == "true";
  } else {
    e.integer = t == DType::u64 ? static_cast<int64_t>(std::strtoull(s.c_str(), nullptr, 10))
                                : std::strtoll(s.c_str(), nullptr, 10);
  }
  return e;
}

Ints integers(Text& in, char open, char close) {
  Ints out;
  in.expect(open);
  while (!in.take(close)) {
    in.take(',');
    in.spaces();
    if (in.peek() != close) out.push_back(std::strtoll(in.until(", )]").c_str(), nullptr, 10));
  }
  return out;
}

struct Tensor {
  Array array;
  std::optional<Ints> strides;
  bool any_values = false, any_strides = false;
};

Tensor tensor(Text& in) {
  Tensor t;
  t.any_strides = in.take('~');
  const std::string type = in.until("[");
  const auto dtype = dtype_from_name(type);
  if (!dtype) throw std::runtime_error("no dtype " + type);
  t.array.dtype = *dtype;
  t.array.shape = integers(in, '[', ']');
  if (in.take('@')) t.strides = integers(in, '(', ')');
  t.any_values = in.take('*');
  if (t.any_values) return t;
  in.expect('{');
  while (!in.take('}')) {
    in.spaces();
    if (in.peek() != '}') t.array.data.push_back(element(in.until(" }\n"), t.array.dtype));
  }
  if (static_cast<int64_t>(t.array.data.size()) != t.array.size())
    throw std::runtime_error(fmt::format("{} values of {}", t.array.data.size(), t.array.size()));
  return t;
}

// --- actual arguments ---

class Inputs {
 public:
  // merged[i]: the earlier number that the i-th one has turned out to equal, or i.
  Inputs(const specs::Overload& o, std::vector<size_t> merged)
      : context(std::make_shared<prims::SymContext>()),
        actuals(o.args.size()),
        arrays(o.args.size()),
        overload_(o),
        merged_(std::move(merged)) {
    for (size_t i = 0; i < o.args.size(); ++i) take_default(i);
  }

  void read(Text& in) {
    const std::string name = in.until("=");
    in.expect('=');
    const int at = overload_.find_arg(name);
    if (at < 0) throw std::runtime_error(overload_.qualified + " has no argument " + name);
    index_ = static_cast<size_t>(at);
    arrays[index_].clear();
    actuals[index_] = value(in);
  }

  std::shared_ptr<prims::SymContext> context;
  std::vector<Actual> actuals;
  std::vector<std::vector<Array>> arrays;  // by argument and element
  Ints symbols;
  std::vector<size_t> number_of_symbol;

 private:
  using Kind = specs::ArgKind;

  SymInt symbol(const char* prefix, int64_t v, int64_t lower) {
    const size_t i = numbers_.size();
    if (i < merged_.size() && merged_[i] < i) {
      numbers_.push_back(numbers_[merged_[i]]);
      return numbers_.back();
    }
    number_of_symbol.push_back(i);
    symbols.push_back(v);
    numbers_.push_back(context->symbol(prefix + std::to_string(symbols.size()), v, lower));
    return numbers_.back();
  }
  SymInt size(int64_t v) { return v <= 1 ? SymInt(v) : symbol("s", v, 2); }
  SymInt integer(int64_t v) {
    const bool structural = overload_.args[index_].role == specs::Role::structural;
    return structural ? SymInt(v) : symbol("i", v, INT64_MIN);
  }

  // As the runtime has it: a stride that follows from a smaller one is no symbol of its own.
  SymInts stride_symbols(const Ints& strides, const Ints& shape, const SymInts& sizes) {
    SymInts out(strides.size());
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t d = 0; d < strides.size(); ++d) order.emplace_back(strides[d], d);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t d = order[i].second;
      std::optional<SymInt> known;
      for (size_t j = 0; j < i && !known; ++j) {
        const size_t e = order[j].second;
        if (shape[e] > 1 && strides[e] > 0 && strides[e] * shape[e] == strides[d])
          known = out[e] * sizes[e];
      }
      out[d] = strides[d] <= 1 ? SymInt(strides[d]) : known ? *known : size(strides[d]);
    }
    return out;
  }

  TensorMeta meta(const Tensor& t) {
    TensorMeta m;
    m.dtype = t.array.dtype;
    m.identity = next_identity_++;
    for (int64_t s : t.array.shape) m.sizes.push_back(size(s));
    m.strides = t.strides ? stride_symbols(*t.strides, t.array.shape, m.sizes)
                          : contiguous_strides(m.sizes);
    arrays[index_].push_back(t.array);
    return m;
  }

  void hold(const Scalar& s) {
    constexpr DType kTypes[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
    Array a;
    a.dtype = kTypes[static_cast<int>(s.kind())];
    Element e;
    if (s.is_integral()) {
      e.integer = s.to_int();
    } else {
      e.re = s.to_double();
      e.im = s.imag();
    }
    a.data.push_back(e);
    arrays[index_].push_back(a);
  }

  Scalar scalar(const std::string& s) {
    Scalar out =
        s == "true" || s == "false" ? Scalar(s == "true")
        : s.find(',') != std::string::npos
            ? Scalar(std::complex<double>(std::strtod(s.c_str(), nullptr),
                                          std::strtod(s.c_str() + s.find(',') + 1, nullptr)))
        : s.find_first_not_of("-0123456789") == std::string::npos
            ? Scalar(static_cast<int64_t>(std::strtoll(s.c_str(), nullptr, 10)))
            : Scalar(std::strtod(s.c_str(), nullptr));
    hold(out);
    return out;
  }

  static bool is_tensor(Text in) {
    in.take('~');
    const std::string word = in.until("[ ){\n");
    return in.peek() == '[' && dtype_from_name(word).has_value();
  }

  Actual value(Text& in) {
    if (in.take('\'')) {
      const std::string s = in.until("'");
      in.expect('\'');
      return {s};
    }
    if (in.take(':')) return {*dtype_from_name(in.until(" "))};
    if (in.peek() == '(') return list(in);
    if (is_tensor(in)) return {meta(tensor(in))};
    const std::string word = in.until(" \n");
    if (word == "none") return {};
    switch (overload_.args[index_].kind) {
      case Kind::scalar:
        return {scalar(word)};
      case Kind::boolean:
        return {word == "true"};
      case Kind::floating:
        hold(Scalar(std::strtod(word.c_str(), nullptr)));
        return {std::strtod(word.c_str(), nullptr)};
      case Kind::memory_format:
        return {static_cast<MemoryFormat>(std::stoi(word))};
      default:
        return {integer(std::strtoll(word.c_str(), nullptr, 10))};
    }
  }

  Actual list(Text& in) {
    std::vector<std::optional<TensorMeta>> tensors;
    std::vector<std::string> words;
    in.expect('(');
    for (in.spaces(); !in.take(')'); in.spaces()) {
      if (is_tensor(in)) {
        tensors.emplace_back(meta(tensor(in)));
        continue;
      }
      words.push_back(in.until(" )\n"));
      if (words.back() != "none") continue;
      tensors.emplace_back();
      arrays[index_].emplace_back();
    }
    return of_kind(tensors, words);
  }

  Actual of_kind(const std::vector<std::optional<TensorMeta>>& tensors,
                 const std::vector<std::string>& words) {
    switch (overload_.args[index_].kind) {
      case Kind::tensor_list: {
        std::vector<TensorMeta> out;
        for (const auto& t : tensors) out.push_back(*t);
        return {out};
      }
      case Kind::optional_tensor_list:
        return {tensors};
      case Kind::scalar_list: {
        std::vector<Scalar> out;
        for (const std::string& w : words) out.push_back(scalar(w));
        return {out};
      }
      case Kind::float_list: {
        std::vector<double> out;
        for (const std::string& w : words) {
          out.push_back(std::strtod(w.c_str(), nullptr));
          hold(Scalar(out.back()));
        }
        return {out};
      }
      case Kind::bool_list: {
        std::vector<bool> out;
        for (const std::string& w : words) out.push_back(w == "true");
        return {out};
      }
      default: {
        SymInts out;
        for (const std::string& w : words)
          out.push_back(integer(std::strtoll(w.c_str(), nullptr, 10)));
        return {out};
      }
    }
  }

  void take_default(size_t i) {
    const specs::Argument& a = overload_.args[i];
    const specs::DefaultValue& d = a.default_value;
    if (d.kind == specs::DefaultKind::absent || d.kind == specs::DefaultKind::none) return;
    index_ = i;
    if (a.kind == Kind::scalar) {
      const Scalar s = d.kind == specs::DefaultKind::floating  ? Scalar(d.floating)
                       : d.kind == specs::DefaultKind::boolean ? Scalar(d.integer != 0)
                                                               : Scalar(d.integer);
      hold(s);
      actuals[i] = {s};
    } else if (a.kind == Kind::floating) {
      const double v =
          d.kind == specs::DefaultKind::floating ? d.floating : static_cast<double>(d.integer);
      hold(v);
      actuals[i] = {v};
    } else if (d.kind == specs::DefaultKind::int_list) {
      SymInts list;
      for (int64_t v : d.list) list.push_back(integer(v));
      actuals[i] = {list};
    } else if (d.kind == specs::DefaultKind::integer && specs::is_list_kind(a.kind)) {
      SymInts list;
      for (int n = std::max(a.fixed_size, 1); n > 0; --n) list.push_back(integer(d.integer));
      actuals[i] = {list};
    } else if (d.kind == specs::DefaultKind::integer ||
               (d.kind == specs::DefaultKind::enumeration && a.kind == Kind::integer)) {
      actuals[i] = {integer(d.integer)};
    } else if (d.kind == specs::DefaultKind::boolean) {
      actuals[i] = {d.integer != 0};
    } else if (d.kind == specs::DefaultKind::string) {
      actuals[i] = {d.text};
    } else if (a.kind == Kind::scalar_type) {
      actuals[i] = {static_cast<DType>(d.integer)};
    }
  }

  const specs::Overload& overload_;
  std::vector<size_t> merged_;
  SymInts numbers_;  // symbols in the order in which the text has them
  size_t index_ = 0;
  uint32_t next_identity_ = 100;
};

// --- running ---

Array rng_input() {
  Array a;
  a.dtype = DType::i64;
  a.data.push_back({});
  a.data[0].integer = 42;
  return a;
}

void run_graph(const Inputs& in, OperatorRun& run, Ints& symbols) {
  std::vector<Array> inputs;
  for (const InputSource& s : run.call.inputs) {
    const bool given = s.kind == InputSource::Kind::tensor || s.kind == InputSource::Kind::scalar;
    inputs.push_back(given ? in.arrays[s.argument][s.element] : rng_input());
  }
  prims::Graph graph = *run.call.graph;
  expand_derived(graph, specs::embedded_bundle(),
                 [](const prims::Graph&, prims::NodeId) { return false; });
  while (symbols.size() < graph.context().symbol_count())
    symbols.push_back(graph.context().symbol_hint(symbols.size()));
  const prims::reference::Result result =
      prims::reference::run(graph, inputs, symbols, {.without_bounds = true});
  for (const TracedOutput& o : run.call.outputs)
    run.results.push_back(o.graph_output ? result.outputs[*o.graph_output] : Array{});
  if (!result.failures.empty())
    run.failure = result.failures[0].code + ": " + result.failures[0].message;
}

// A size known at run time only is found in the array.
void find_run_time_sizes(const OperatorRun& run, const prims::SymContext& context, Ints& symbols) {
  for (size_t i = 0; i < run.results.size(); ++i) {
    const SymInts& sizes = run.call.outputs[i].sizes;
    if (!run.call.outputs[i].graph_output) continue;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d].is_constant()) continue;
      if (const auto s = context.as_symbol(sizes[d])) symbols[*s] = run.results[i].shape[d];
    }
  }
}

int64_t value(const SymInt& s, const prims::SymContext& context, const Ints& symbols) {
  return s.is_constant() ? s.constant() : context.evaluate(s.poly(), symbols);
}

// --- comparing ---

double tolerance(DType t) {
  switch (t) {
    case DType::f16:
      return 1e-3;
    case DType::bf16:
      return 8e-3;
    case DType::f64:
    case DType::c128:
      return 1e-12;
    default:
      return 2e-6;
  }
}

bool close(long double got, long double want, double tol) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= tol * (1 + std::abs(want));
}

bool same(const Element& got, const Element& want, DType t) {
  if (!is_floating(t) && !is_complex(t)) return got.integer == want.integer;
  return close(got.re, want.re, tolerance(t)) && close(got.im, want.im, tolerance(t));
}

std::string shown(const Element& e, DType t) {
  if (is_complex(t))
    return fmt::format("{},{}", static_cast<double>(e.re), static_cast<double>(e.im));
  if (is_floating(t)) return fmt::format("{}", static_cast<double>(e.re));
  return std::to_string(e.integer);
}

void expect_same(const Array& got, const Array& want) {
  EXPECT_EQ(name(got.dtype), name(want.dtype));
  EXPECT_EQ(got.shape, want.shape);
  if (got.dtype != want.dtype || got.shape != want.shape) return;
  for (size_t i = 0; i < want.data.size(); ++i)
    EXPECT_TRUE(same(got.data[i], want.data[i], want.dtype))
        << "element " << i << ": " << shown(got.data[i], want.dtype) << " instead of "
        << shown(want.data[i], want.dtype);
}

Ints row_major(const Ints& shape) {
  Ints strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
  return strides;
}

// Strides of dims of size 1 say nothing.
Ints meaningful(Ints strides, const Ints& shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] <= 1) strides[d] = 0;
  }
  return strides;
}

void expect_result(const Tensor& want, const TracedOutput& output, const Array& got,
                   const Ints& strides) {
  EXPECT_EQ(name(output.dtype), name(want.array.dtype));
  if (want.any_values) {
    EXPECT_EQ(got.shape, want.array.shape);
  } else if (output.graph_output) {
    expect_same(got, want.array);
  }
  const bool empty = std::find(got.shape.begin(), got.shape.end(), 0) != got.shape.end();
  if (want.any_strides || empty || got.shape != want.array.shape) return;
  const Ints expected = want.strides ? *want.strides : row_major(want.array.shape);
  EXPECT_EQ(meaningful(strides, got.shape), meaningful(expected, got.shape));
}

void expect_error(const std::string& got, Text want) {
  want.expect('!');
  const std::string code = want.until(" ");
  want.spaces();
  want.expect('"');
  std::string text = want.rest();
  text.erase(text.rfind('"'));
  EXPECT_EQ(got.substr(0, code.size() + 2 + text.size()), code + ": " + text);
}

// As the runtime does: symbols that guards say are equal become one, and the call is traced anew.
bool merge(const Inputs& in, std::vector<size_t>& merged) {
  bool changed = false;
  for (const Unification& u : unifications(*in.context)) {
    if (!u.other || u.symbol >= in.number_of_symbol.size()) continue;
    const size_t later = in.number_of_symbol[u.symbol];
    while (merged.size() <= later) merged.push_back(merged.size());
    merged[later] = in.number_of_symbol[*u.other];
    changed = true;
  }
  return changed;
}

TracedCall trace_merged(const specs::Overload& overload, const Text& text,
                        std::optional<Inputs>& inputs) {
  constexpr int kMostPasses = 8;
  std::vector<size_t> merged;
  for (int pass = 1;; ++pass) {
    Text in = text;
    inputs.emplace(overload, merged);
    while (!in.done()) inputs->read(in);
    TracedCall call = trace(specs::embedded_bundle(), overload, inputs->actuals, inputs->context);
    if (pass == kMostPasses || !merge(*inputs, merged)) return call;
  }
}

OperatorRun run_operator(const std::string& call) {
  Text in(call);
  const std::string name = in.until(" \n");
  const specs::Bundle& bundle = specs::embedded_bundle();
  const specs::Overload* overload = bundle.find_overload(name);
  if (!overload) throw std::runtime_error("no operator " + name);
  std::optional<Inputs> read;
  OperatorRun run;
  run.call = trace_merged(*overload, in, read);
  Inputs& inputs = *read;
  Ints symbols = inputs.symbols;
  while (symbols.size() < inputs.context->symbol_count())
    symbols.push_back(inputs.context->symbol_hint(symbols.size()));
  if (run.call.graph) {
    run_graph(inputs, run, symbols);
  } else {
    run.results.resize(run.call.outputs.size());
  }
  find_run_time_sizes(run, *inputs.context, symbols);
  for (const TracedOutput& o : run.call.outputs) {
    Ints strides;
    for (const SymInt& s : o.strides) strides.push_back(value(s, *inputs.context, symbols));
    run.strides.push_back(strides);
  }
  return run;
}

void expect_operator(const std::string& line) {
  SCOPED_TRACE(line);
  const size_t arrow = line.find(" -> ");
  ASSERT_NE(arrow, std::string::npos);
  Text want(line.substr(arrow + 4));
  want.spaces();
  OperatorRun run;
  try {
    run = run_operator(line.substr(0, arrow));
  } catch (const Error& e) {
    const std::string got = std::string(name(e.code())) + ": " + e.what();
    if (want.peek() == '!') return expect_error(got, want);
    FAIL() << got;
  } catch (const std::exception& e) {
    FAIL() << e.what();
  }
  if (want.peek() == '!') return expect_error(run.failure, want);
  EXPECT_EQ(run.failure, "");
  size_t i = 0;
  for (; !want.done(); ++i) {
    const Tensor expected = tensor(want);
    ASSERT_LT(i, run.call.outputs.size());
    expect_result(expected, run.call.outputs[i], run.results[i], run.strides[i]);
  }
  EXPECT_EQ(i, run.call.outputs.size());
}

// --- the files ---

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(PRIMSET_SOURCE_DIR "/decomps/testdata/rows"))
    names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class OperatorRows : public testing::TestWithParam<std::string> {};

TEST_P(OperatorRows, AreAsPyTorchHasThem) {
  std::ifstream file(PRIMSET_SOURCE_DIR "/decomps/testdata/rows/" + GetParam() + ".txt");
  size_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    expect_operator(line);
    ++rows;
  }
  EXPECT_GT(rows, 0u);
}

INSTANTIATE_TEST_SUITE_P(Families, OperatorRows, testing::ValuesIn(families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace primset::decomps
