// Traces operators and runs the graphs in the reference interpreter; results, strides, aliases and
// errors are held against what PyTorch did (testdata/*.json, written by testdata/make_cases.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "decomps/engine/engine.h"
#include "prims/reference/reference.h"
#include "specs/bundle/reader.h"

namespace primset::decomps {
namespace {

using Json = nlohmann::json;
using prims::reference::Array;
using prims::reference::Element;

long double number(const Json& j) {
  if (!j.is_string()) return j.get<double>();
  const std::string s = j.get<std::string>();
  if (s == "nan") return std::nanl("");
  return s == "inf" ? HUGE_VALL : -HUGE_VALL;
}

Element element(const Json& j, DType t) {
  Element e;
  if (is_complex(t)) {
    e.re = number(j[0]);
    e.im = number(j[1]);
  } else if (is_floating(t)) {
    e.re = number(j);
  } else {
    e.integer = j.is_boolean() ? j.get<bool>() : j.get<int64_t>();
  }
  return e;
}

Array array(const Json& j) {
  Array a;
  a.dtype = *dtype_from_name(j["dtype"].get<std::string>());
  a.shape = j["shape"].get<std::vector<int64_t>>();
  for (const Json& v : j["data"]) a.data.push_back(element(v, a.dtype));
  return a;
}

// The actual arguments of one case; sizes and strides above 1 are symbols.
class Inputs {
 public:
  // `merged[i]` is the number whose symbol also stands for number i: i itself or an earlier one.
  Inputs(const specs::Overload& o, const Json& args, std::vector<size_t> merged)
      : context(std::make_shared<prims::SymContext>()), merged_(std::move(merged)) {
    for (size_t i = 0; i < args.size(); ++i) actuals.push_back(actual(args[i], o.args[i]));
  }
  const std::vector<size_t>& numbers() const { return number_of_symbol_; }

  std::shared_ptr<prims::SymContext> context;
  std::vector<Actual> actuals;
  std::vector<int64_t> symbols;
  std::vector<std::vector<Array>> arrays;  // by argument and element

 private:
  SymInt size(int64_t v) { return v <= 1 ? SymInt(v) : symbol("s", v, 2); }
  SymInt symbol(const char* prefix, int64_t v, int64_t lower) {
    const size_t number = next_number_++;
    const size_t stands = number < merged_.size() ? merged_[number] : number;
    if (auto known = known_.find(stands); known != known_.end()) return known->second;
    symbols.push_back(v);
    number_of_symbol_.push_back(number);
    const SymInt s = context->symbol(prefix + std::to_string(symbols.size()), v, lower);
    return known_.emplace(stands, s).first->second;
  }
  SymInt integer(int64_t v, const specs::Argument& a) {
    if (a.role == specs::Role::structural) return v;
    return symbol("i", v, INT64_MIN);
  }

  TensorMeta tensor(const Json& j) {
    TensorMeta t;
    const Array a = array(j);
    t.dtype = a.dtype;
    t.identity = j.contains("same") ? j["same"].get<uint32_t>() : next_identity_++;
    t.wrapped_number = j.value("wrapped", false);
    for (int64_t s : a.shape) t.sizes.push_back(size(s));
    const auto strides = j["stride"].get<std::vector<int64_t>>();
    // As the runtime has it: a stride that follows from a smaller one is no symbol of its own.
    for (size_t d = 0; d < strides.size(); ++d) t.strides.push_back(strides[d]);
    for (size_t d = 0; d < strides.size(); ++d) {
      if (strides[d] <= 1) continue;
      bool follows = false;
      for (size_t e = 0; e < strides.size() && !follows; ++e) {
        if (e == d || a.shape[e] <= 1 || strides[e] * a.shape[e] != strides[d]) continue;
        follows = true;
        chains_.push_back({d, e});
      }
      if (!follows) t.strides[d] = size(strides[d]);
    }
    resolve(t, strides);
    arrays.back().push_back(a);
    return t;
  }

  void resolve(TensorMeta& t, const std::vector<int64_t>& strides) {
    std::sort(chains_.begin(), chains_.end(),
              [&](auto& x, auto& y) { return strides[x.first] < strides[y.first]; });
    for (auto [outer, inner] : chains_) t.strides[outer] = t.strides[inner] * t.sizes[inner];
    chains_.clear();
  }

  Scalar scalar(const Json& j) {
    if (j["kind"] == "b") return j["scalar"].get<bool>();
    if (j["kind"] == "i") return j["scalar"].get<int64_t>();
    if (j["kind"] == "c")
      return std::complex<double>(j["scalar"][0].get<double>(), j["scalar"][1].get<double>());
    return static_cast<double>(number(j["scalar"]));
  }
  void hold(const Scalar& s) {
    Array a;
    constexpr DType kTypes[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
    a.dtype = kTypes[static_cast<int>(s.kind())];
    Element e;
    e.re = s.to_double();
    e.im = s.imag();
    if (s.is_integral()) e.integer = s.to_int();
    a.data.push_back(e);
    arrays.back().push_back(a);
  }

  Actual actual(const Json& j, const specs::Argument& a) {
    arrays.emplace_back();
    if (j.contains("tensor")) return {tensor(j["tensor"])};
    if (j.contains("tensors")) {
      std::vector<TensorMeta> list;
      for (const Json& t : j["tensors"]) list.push_back(tensor(t));
      return {list};
    }
    if (j.contains("optional_tensors")) {
      std::vector<std::optional<TensorMeta>> list;
      for (const Json& t : j["optional_tensors"]) {
        if (t.is_null()) {
          list.emplace_back();
          arrays.back().emplace_back();
        } else {
          list.emplace_back(tensor(t));
        }
      }
      return {list};
    }
    if (j.contains("scalar")) {
      const Scalar s = scalar(j);
      hold(s);
      return {s};
    }
    if (j.contains("scalars")) {
      std::vector<Scalar> list;
      for (const Json& s : j["scalars"]) {
        list.push_back(scalar(s));
        hold(list.back());
      }
      return {list};
    }
    if (j.contains("float")) {
      const auto v = static_cast<double>(number(j["float"]));
      hold(v);
      return {v};
    }
    if (j.contains("int")) return {integer(j["int"].get<int64_t>(), a)};
    if (j.contains("ints")) {
      SymInts list;
      for (int64_t v : j["ints"]) list.push_back(integer(v, a));
      return {list};
    }
    if (j.contains("bool")) return {j["bool"].get<bool>()};
    if (j.contains("str")) return {j["str"].get<std::string>()};
    if (j.contains("dtype")) return {*dtype_from_name(j["dtype"].get<std::string>())};
    if (j.contains("memory_format"))
      return {static_cast<MemoryFormat>(j["memory_format"].get<int>())};
    return {};
  }

  std::vector<size_t> merged_, number_of_symbol_;
  std::map<size_t, SymInt> known_;
  size_t next_number_ = 0;
  uint32_t next_identity_ = 100;
  std::vector<std::pair<size_t, size_t>> chains_;
};

int64_t value(const SymInt& s, const prims::SymContext& c, const std::vector<int64_t>& symbols) {
  return s.is_constant() ? s.constant() : c.evaluate(s.poly(), symbols);
}

double tolerance(DType t) {
  switch (t) {
    case DType::f16:
      return 2e-3;
    case DType::bf16:
      return 1.6e-2;
    case DType::f64:
    case DType::c128:
      return 1e-11;
    default:
      return 4e-6;
  }
}

bool close(long double got, long double want, double tol) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= tol * (1 + std::abs(want));
}

std::string difference(const Array& got, const Array& want, double extra) {
  if (got.dtype != want.dtype)
    return "dtype " + std::string(name(got.dtype)) + " instead of " + std::string(name(want.dtype));
  if (got.shape != want.shape) return "shape " + testing::PrintToString(got.shape);
  for (size_t i = 0; i < want.data.size(); ++i) {
    const Element &g = got.data[i], &w = want.data[i];
    if (g.undecided) continue;
    const double tol = tolerance(want.dtype) * extra;
    const bool real_number = is_floating(want.dtype) || is_complex(want.dtype);
    const bool same =
        real_number ? close(g.re, w.re, tol) && close(g.im, w.im, tol) : g.integer == w.integer;
    if (!same) {
      std::ostringstream text;
      if (real_number)
        text << "element " << i << ": " << g.re << "+" << g.im << "i instead of " << w.re << "+"
             << w.im << "i";
      else
        text << "element " << i << ": " << g.integer << " instead of " << w.integer;
      return text.str();
    }
  }
  return "";
}

class Case {
 public:
  explicit Case(const Json& j) : json_(j), name_(j["op"].get<std::string>()) {}

  void run() {
    SCOPED_TRACE(name_ + " " + json_.value("note", ""));
    const specs::Bundle& bundle = specs::embedded_bundle();
    const specs::Overload* o = bundle.find_overload(name_);
    ASSERT_NE(o, nullptr);
    try {
      std::vector<size_t> merged;
      for (;;) {
        Inputs in(*o, json_["args"], merged);
        const TracedCall call = trace(bundle, *o, in.actuals, in.context);
        if (merge(in, merged)) continue;
        outputs(in, call);
        break;
      }
    } catch (const Error& e) {
      ASSERT_TRUE(json_.contains("error")) << "threw: " << e.what();
      // ATen's sentence comes first, then what else is known.
      EXPECT_THAT(e.what(), testing::StartsWith(json_["error"].get<std::string>()));
      EXPECT_EQ(std::string(primset::name(e.code())), json_["code"].get<std::string>());
      return;
    }
    EXPECT_TRUE(!json_.contains("error") || device_error_) << "no error";
  }

 private:
  // As the runtime does: symbols that guards say are equal become one, and the call is traced anew.
  static bool merge(const Inputs& in, std::vector<size_t>& merged) {
    const std::vector<size_t>& numbers = in.numbers();
    bool changed = false;
    for (const Unification& u : unifications(*in.context)) {
      if (!u.other || u.symbol >= numbers.size()) continue;
      while (merged.size() <= numbers[u.symbol]) merged.push_back(merged.size());
      merged[numbers[u.symbol]] = numbers[*u.other];
      changed = true;
    }
    return changed;
  }

  void outputs(Inputs& in, const TracedCall& call) {
    std::vector<Array> arrays;
    std::vector<int64_t> symbols = in.symbols;
    if (call.graph) {
      std::vector<Array> inputs;
      for (const InputSource& s : call.inputs) {
        if (s.kind == InputSource::Kind::tensor || s.kind == InputSource::Kind::scalar) {
          inputs.push_back(in.arrays[s.argument][s.element]);
        } else {
          Array rng;
          rng.dtype = DType::i64;
          rng.data.push_back({});
          inputs.push_back(rng);
        }
      }
      prims::Graph graph = *call.graph;
      expand_derived(graph, specs::embedded_bundle(),
                     [](const prims::Graph&, prims::NodeId) { return false; });
      while (symbols.size() < graph.context().symbol_count()) {
        symbols.push_back(graph.context().symbol_hint(symbols.size()));
      }
      const auto result = prims::reference::run(graph, inputs, symbols);
      arrays = result.outputs;
      if (json_.contains("error")) {
        device_error_ = !result.failures.empty();
        if (device_error_)
          EXPECT_EQ(result.failures[0].message.substr(0, 10),
                    json_["error"].get<std::string>().substr(0, 10));
        return;
      }
      EXPECT_TRUE(result.failures.empty()) << result.failures[0].message;
    }
    if (json_.contains("error")) return;
    const Json& want = json_["out"];
    ASSERT_EQ(call.outputs.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) output(call.outputs[i], want[i], in, symbols, arrays);
  }

  void output(const TracedOutput& got, const Json& want, const Inputs& in,
              const std::vector<int64_t>& symbols, const std::vector<Array>& arrays) {
    const Array wanted = array(want);
    EXPECT_EQ(name(got.dtype), name(wanted.dtype));
    const bool dynamic = json_.value("dynamic", false);
    if (!dynamic) {
      std::vector<int64_t> sizes, strides;
      for (const SymInt& s : got.sizes) sizes.push_back(value(s, *in.context, symbols));
      for (const SymInt& s : got.strides) strides.push_back(value(s, *in.context, symbols));
      EXPECT_EQ(sizes, wanted.shape);
      const bool matters = std::find(sizes.begin(), sizes.end(), 0) == sizes.end();
      if (matters && !json_.value("any_stride", false)) {
        EXPECT_EQ(strides, want["stride"].get<std::vector<int64_t>>());
      }
    }
    if (want.contains("alias")) {
      EXPECT_EQ(want["alias"].get<std::string>(), got.kind == TracedOutput::Kind::fresh ? "fresh"
                                                  : got.kind == TracedOutput::Kind::view
                                                      ? "view"
                                                      : "argument");
    }
    if (want.contains("offset"))
      EXPECT_EQ(value(got.offset, *in.context, symbols), want["offset"].get<int64_t>());
    if (got.graph_output && !json_.value("random", false))
      EXPECT_EQ(difference(arrays[*got.graph_output], wanted, json_.value("slack", 1.0)), "");
  }

  const Json& json_;
  std::string name_;
  bool device_error_ = false;
};

TEST(Oracle, PyTorch) {
  const char* only = std::getenv("PRIMSET_CASES");
  for (const auto& entry :
       std::filesystem::directory_iterator(PRIMSET_SOURCE_DIR "/decomps/testdata")) {
    if (entry.path().extension() != ".json") continue;
    if (only && entry.path().filename().string().find(only) == std::string::npos) continue;
    std::ifstream file(entry.path());
    const Json cases = Json::parse(file);
    for (const Json& c : cases) Case(c).run();
  }
}

}  // namespace
}  // namespace primset::decomps
