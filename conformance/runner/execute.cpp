#include "conformance/runner/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "conformance/cases/inputs/sparse_values.h"
#include "conformance/compare/compare.h"
#include "conformance/compare/property.h"
#include "conformance/compare/red_zone.h"
#include "conformance/compare/statistics.h"
#include "conformance/reference/call_arguments.h"
#include "conformance/reference/flushed_denormals.h"
#include "conformance/reference/random_parameters.h"
#include "prims/graph/traits.h"
#include "prims/reference/array.h"
#include "prims/reference/element.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;

// Enough for a statistical test to say anything.
constexpr size_t kMinSample = 1000;

std::string op_name(std::string_view subject) {
  return std::string(subject.substr(0, subject.find('.')));
}

// What property_of finds it by.
std::string property_name(const CaseId& id) {
  return id.level == Level::primitive ? "prim/" + id.subject : op_name(id.subject);
}

std::string dtypes_text(DType got, DType expected) {
  return fmt::format("dtype {}, expected {}", name(got), name(expected));
}

// Strides along dims that have more than one index matter; of an empty tensor none do.
bool same_strides(const std::vector<int64_t>& sizes, const std::vector<int64_t>& a,
                  const std::vector<int64_t>& b) {
  if (a.size() != sizes.size() || b.size() != sizes.size()) return false;
  if (ref::element_count(sizes) == 0) return true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1 && a[d] != b[d]) return false;
  }
  return true;
}

// A graph of moves and correctly rounded steps leaves a zero no choice of its sign.
bool fixes_zero_signs(const prims::Graph& graph) {
  for (prims::NodeId n : graph.body.nodes) {
    const prims::PrimTraits& traits = prims::traits(graph.node(n).prim);
    if (traits.tier != prims::Tier::core || !traits.fixed_zero_sign) return false;
  }
  return !graph.body.nodes.empty();
}

class Judge {
 public:
  Judge(const specs::Bundle& bundle, const TestCase& test, const Expected& expected,
        const Execution& actual, const DeviceClaims& claims)
      : test_(test), expected_(expected), actual_(actual), claims_(claims) {
    overload_ = test.id.level == Level::op ? bundle.find_overload(test.id.subject) : nullptr;
    // A derived primitive that runs natively is held to what it states, not to the steps of its
    // decomposition.
    const specs::Primitive* primitive =
        test.id.level == Level::primitive ? bundle.find_primitive(test.id.subject) : nullptr;
    if (overload_)
      stated_tolerance_ = &overload_->tolerance;
    else if (primitive && primitive->tier == specs::Tier::derived)
      stated_tolerance_ = &primitive->tolerance;
    prepare_policy();
  }

  Verdict run() {
    if (actual_.route_times) verdict_.native_ratio = actual_.route_times->ratio();
    if (actual_.error) return judge_error(*actual_.error);
    if (expected_.error) {
      return Verdict::failed(FailKind::error_contract,
                             fmt::format("no error; expected {}: {}", name(expected_.error->code),
                                         expected_.error->message));
    }
    if (!look_at_results() || !look_at_written() || !look_at_red_zones())
      return std::move(verdict_);
    verdict_.outcome = Outcome::pass;
    verdict_.empty = !computes_elements(expected_);
    return std::move(verdict_);
  }

 private:
  void prepare_policy() {
    policy_.flush_f32 = claims_.flush_f32;
    policy_.signed_zero = expected_.graph && fixes_zero_signs(*expected_.graph);
    if (!stated_tolerance_ || stated_tolerance_->empty()) return;
    policy_.tolerance = specs::tolerance_for(*stated_tolerance_, test_.id.dtype);
    policy_.compute = opmath_type(test_.id.dtype);
    int64_t in = 1, out = 1;
    for (const Array& a : expected_.graph_inputs) in = std::max(in, a.size());
    for (const ExpectedTensor& r : expected_.results) {
      out = std::max(out, ref::element_count(r.sizes));
    }
    policy_.terms = static_cast<double>(std::max<int64_t>(1, in / out));
  }

  bool fail(FailKind kind, std::string detail) {
    verdict_.outcome = Outcome::fail;
    verdict_.kind = kind;
    verdict_.detail = std::move(detail);
    return false;
  }

  Verdict judge_error(const CaughtError& e) {
    std::string text = fmt::format("{}: {}", name(e.code), e.message);
    if (e.code == ErrorCode::device_lost) return Verdict::of(Outcome::device_lost, text);
    if (expected_.error && expected_.error->code == e.code) {
      // Nothing may have been written before the refusal, unless computing led to it.
      if (!look_at_red_zones()) return std::move(verdict_);
      return Verdict::of(Outcome::refused, text);
    }
    if (e.code == ErrorCode::out_of_memory) return judge_lack_of_memory(text);
    if (e.code == ErrorCode::not_implemented) {
      return Verdict::of(is_claimed() ? Outcome::claim_broken : Outcome::unsupported, text);
    }
    if (!claims_.dtypes.contains(test_.id.dtype)) return Verdict::of(Outcome::unsupported, text);
    std::string wanted = expected_.error
                             ? fmt::format("; expected {}: {}", name(expected_.error->code),
                                           expected_.error->message)
                             : std::string("; expected no error");
    return Verdict::failed(FailKind::error_contract, text + wanted);
  }

  // A device may be too small for a case. A case that needs a small part of it must find room.
  Verdict judge_lack_of_memory(const std::string& text) const {
    constexpr uint64_t kSmallPart = 64;
    uint64_t needed = 0;
    for (const HostStorage& s : test_.storages) needed += s.size();
    for (const ExpectedTensor& r : expected_.results) {
      needed += static_cast<uint64_t>(ref::element_count(r.sizes)) * byte_size(r.dtype);
    }
    if (needed * kSmallPart > claims_.memory_bytes) return Verdict::of(Outcome::unsupported, text);
    return Verdict::of(
        Outcome::claim_broken,
        fmt::format("{}; the case has {} bytes of tensors, the device {} bytes of memory: is "
                    "memory given back?",
                    text, needed, claims_.memory_bytes));
  }

  // Does the device say that it does this?
  bool is_claimed() const {
    if (!claims_.takes_kernels) return actual_.claimed;
    auto has = [&](DType t) { return claims_.dtypes.contains(t); };
    // Indices of sparse tensors are i64.
    const auto is_sparse = [](const ExpectedTensor& e) { return e.layout != Layout::strided; };
    if (!has(DType::i64) && std::ranges::any_of(expected_.results, is_sparse)) return false;
    return has(test_.id.dtype) && std::ranges::all_of(tensors_of(test_), has, &HostTensor::dtype) &&
           std::ranges::all_of(expected_.results, has, &ExpectedTensor::dtype);
  }

  bool look_at_results() {
    if (actual_.results.size() != expected_.results.size()) {
      return fail(FailKind::shape, fmt::format("{} results, expected {}", actual_.results.size(),
                                               expected_.results.size()));
    }
    for (size_t i = 0; i < expected_.results.size(); ++i) {
      if (!look_at_type(i) || !look_at_place(i) || !look_at_pattern(i)) return false;
    }
    const Property* property = property_of(property_name(test_.id));
    if (property && !look_at_property(*property)) return false;
    for (size_t i = 0; i < expected_.results.size(); ++i) {
      const ExpectedTensor& e = expected_.results[i];
      if (property && property->covers(i)) continue;
      if (e.values && !look_at_values(i, *e.values, array_of(i), flushed_result(i))) return false;
    }
    return look_at_distribution();
  }

  std::string result_name(size_t i) const {
    return expected_.results.size() == 1 ? std::string("the result") : fmt::format("result {}", i);
  }

  bool look_at_type(size_t i) {
    const ActualTensor& a = actual_.results[i];
    const ExpectedTensor& e = expected_.results[i];
    if (a.is_tensor && a.dtype != e.dtype) {
      return fail(FailKind::dtype, result_name(i) + " has " + dtypes_text(a.dtype, e.dtype));
    }
    if (a.sizes != e.sizes) {
      return fail(FailKind::shape, fmt::format("{} has sizes {}, expected {}", result_name(i),
                                               list_text(a.sizes), list_text(e.sizes)));
    }
    if (a.layout != e.layout) {
      return fail(FailKind::shape, fmt::format("{} has layout {}, expected {}", result_name(i),
                                               layout_name(a.layout), layout_name(e.layout)));
    }
    if (a.is_tensor && e.strides && !same_strides(e.sizes, a.strides, *e.strides)) {
      return fail(FailKind::shape, fmt::format("{} has strides {}, expected {}", result_name(i),
                                               list_text(a.strides), list_text(*e.strides)));
    }
    return true;
  }

  // How a sparse result is stored. What the reference gives has no parts to look at.
  bool look_at_pattern(size_t i) {
    const ExpectedTensor& e = expected_.results[i];
    if (actual_.results[i].parts.empty() || e.layout == Layout::strided) return true;
    const SparseValues stored = stored_values(actual_.results[i]);
    // Room for entries that are not known is no pattern yet.
    if (const std::string wrong = pattern_mistake(stored); e.values && !wrong.empty())
      return fail(FailKind::shape, fmt::format("{}: {}", result_name(i), wrong));
    const std::tuple<const char*, std::optional<int64_t>, int64_t> counts[] = {
        {"entries", e.entries, stored.entries()},
        {"dense dims", e.dense_dims, stored.dense_dims()}};
    for (const auto& [what, wanted, found] : counts) {
      if (wanted && *wanted != found)
        return fail(FailKind::shape,
                    fmt::format("{} has {} {}, expected {}", result_name(i), found, what, *wanted));
    }
    if (e.coalesced && *e.coalesced != stored.coalesced)
      return fail(FailKind::shape,
                  fmt::format("{} is {}coalesced", result_name(i), stored.coalesced ? "" : "not "));
    return true;
  }

  static SparseValues stored_values(const ActualTensor& a) {
    SparseValues out{a.layout, a.sizes, {}, a.coalesced};
    for (const ActualTensor& part : a.parts)
      out.parts.push_back(ref::from_bytes(part.dtype, part.sizes, part.values));
    return out;
  }

  // Which memory the result lies in.
  bool look_at_place(size_t i) {
    constexpr const char* kOrigins[] = {"memory of its own", "argument itself", "view of argument"};
    const ActualTensor& a = actual_.results[i];
    const ExpectedTensor& e = expected_.results[i];
    if (!a.is_tensor || test_.graph || e.anywhere) return true;
    bool same = a.origin == e.origin && (e.origin == Origin::fresh || a.argument == e.argument);
    if (!same) {
      return fail(FailKind::shape,
                  fmt::format("{} is {} {}, expected {} {}", result_name(i),
                              kOrigins[static_cast<size_t>(a.origin)], a.argument,
                              kOrigins[static_cast<size_t>(e.origin)], e.argument));
    }
    bool empty = ref::element_count(e.sizes) == 0;
    if (e.origin == Origin::view && !empty && e.offset && a.offset != *e.offset) {
      return fail(FailKind::shape, fmt::format("{} begins at element {}, expected {}",
                                               result_name(i), a.offset, *e.offset));
    }
    if (a.conj != e.conj || a.neg != e.neg) {
      return fail(FailKind::shape, result_name(i) + " has another conjugate or negative bit");
    }
    return true;
  }

  Array array_of(size_t i) const {
    const ActualTensor& a = actual_.results[i];
    if (!a.parts.empty()) return made_dense(stored_values(a));
    Array values = ref::from_bytes(a.dtype, a.sizes, a.values);
    if (a.is_tensor) return values;
    // A number is held against the rank-0 tensor that it was read from.
    values.data[0] = ref::convert(values.data[0], a.dtype, expected_.results[i].dtype);
    values.dtype = expected_.results[i].dtype;
    return values;
  }

  // What the result may be as well.
  const std::optional<Array>* flushed_result(size_t i) const {
    const Expected* f = expected_.flushed.get();
    return f && i < f->results.size() ? &f->results[i].values : nullptr;
  }

  bool look_at_values(size_t i, const Array& expected, const Array& actual,
                      const std::optional<Array>* flushed) {
    if (is_bool(actual.dtype)) {
      for (std::byte b : actual_.results[i].values) {
        if (static_cast<unsigned>(b) > 1) {
          return fail(FailKind::numeric, fmt::format("a bool of {} is the byte {}", result_name(i),
                                                     static_cast<unsigned>(b)));
        }
      }
    }
    return look_at_arrays(result_name(i), expected, actual, flushed);
  }

  bool look_at_arrays(const std::string& what, const Array& expected, const Array& actual,
                      const std::optional<Array>* flushed) {
    const bool either = flushed && *flushed && (*flushed)->shape == expected.shape;
    Comparison c = compare(expected, actual, policy_, either ? &**flushed : nullptr);
    verdict_.elements += c.elements;
    verdict_.undecided += c.undecided;
    verdict_.max_ulp = std::max(verdict_.max_ulp, c.max_ulp);
    verdict_.max_share = std::max(verdict_.max_share, c.max_share);
    return c.ok() || fail(FailKind::numeric, what + " " + c.first);
  }

  bool look_at_property(const Property& property) {
    std::vector<Array> inputs, outputs;
    for (const HostTensor& t : tensors_of(test_)) inputs.push_back(read(test_.storages, t));
    for (size_t i = 0; i < actual_.results.size(); ++i) {
      if (property.covers(i)) outputs.push_back(array_of(i));
    }
    for (const Array& a : outputs) verdict_.elements += a.data.size();
    std::string wrong = property.check(inputs, outputs);
    return wrong.empty() || fail(FailKind::numeric, wrong);
  }

  bool look_at_distribution() {
    // A graph that an operator became has no arguments to read a distribution from.
    if (!overload_ || test_.graph || !overload_->random.seeded || actual_.results.empty())
      return true;
    Array values = array_of(0);
    if (values.data.size() < kMinSample) return true;
    std::optional<Parameters> p = parameters_of(*overload_, test_, values.dtype);
    if (!p) return true;
    std::optional<Distribution> d = distribution(op_name(test_.id.subject), *p);
    if (!d) return true;
    std::vector<double> sample;
    for (const Element& e : values.data) {
      bool integer = is_integral(values.dtype) || is_bool(values.dtype);
      sample.push_back(integer ? static_cast<double>(e.integer) : static_cast<double>(e.re));
    }
    std::string wrong = test_fit(*d, sample);
    return wrong.empty() || fail(FailKind::numeric, wrong);
  }

  // The argument is a result whose values may differ.
  bool is_judged_by_property(const HostTensor& written) const {
    const Property* property = property_of(property_name(test_.id));
    if (!property) return false;
    for (size_t i = 0; i < expected_.results.size(); ++i) {
      const ExpectedTensor& e = expected_.results[i];
      if (!property->covers(i) || e.origin != Origin::argument) continue;
      if (argument_tensor(test_, e.argument).storage == written.storage) return true;
    }
    return false;
  }

  bool look_at_written() {
    for (size_t i = 0; i < expected_.written.size(); ++i) {
      const WrittenTensor& w = expected_.written[i];
      if (w.tensor.storage >= actual_.storages.size()) continue;
      if (actual_.storages[w.tensor.storage].empty()) continue;
      if (!w.values || is_judged_by_property(w.tensor)) continue;
      Array after = read(actual_.storages, w.tensor);
      // A result that was cast on its way into its argument is compared as its argument holds it.
      if (after.dtype != w.values->dtype || after.shape != w.values->shape) continue;
      const Expected* f = expected_.flushed.get();
      const auto* flushed = f && i < f->written.size() ? &f->written[i].values : nullptr;
      if (!look_at_arrays("the written argument", *w.values, after, flushed)) return false;
    }
    return true;
  }

  bool look_at_red_zones() {
    std::vector<HostTensor> written;
    for (const WrittenTensor& w : expected_.written) written.push_back(w.tensor);
    std::optional<std::string> stray =
        find_out_of_bounds_write(test_.storages, actual_.storages, tensors_of(test_), written);
    if (!stray) stray = actual_.out_of_bounds_write;
    if (stray) return fail(FailKind::out_of_bounds_write, *stray);
    if (actual_.findings.empty()) return true;
    return fail(FailKind::error_contract,
                "a rule of the plugin interface was broken: " + actual_.findings.front());
  }

  const TestCase& test_;
  const Expected& expected_;
  const Execution& actual_;
  const DeviceClaims& claims_;
  const specs::Overload* overload_;
  const std::vector<specs::ToleranceRule>* stated_tolerance_ = nullptr;
  ComparePolicy policy_;
  Verdict verdict_;
};

// A case that says what it means must get it from the reference already.
std::optional<std::string> case_mistake(const TestCase& test, const Expected& expected) {
  if (test.expected_error) {
    if (!expected.error) {
      return fmt::format("the case expects {}, and the reference computes a result",
                         name(*test.expected_error));
    }
    if (expected.error->code != *test.expected_error) {
      return fmt::format("the case expects {}, the reference says {}: {}",
                         name(*test.expected_error), name(expected.error->code),
                         expected.error->message);
    }
    return std::nullopt;
  }
  if (expected.error && !test.may_be_refused) {
    return fmt::format("the reference refuses the case: {}: {}", name(expected.error->code),
                       expected.error->message);
  }
  return std::nullopt;
}

Execution run_on(DeviceRunner& device, const TestCase& test) {
  return test.graph ? device.run_graph(test) : device.run_operator(test);
}

bool same_tensor(const ActualTensor& x, const ActualTensor& y) {
  return x.dtype == y.dtype && x.sizes == y.sizes && x.strides == y.strides &&
         x.offset == y.offset && x.values == y.values && x.layout == y.layout &&
         x.coalesced == y.coalesced && std::ranges::equal(x.parts, y.parts, same_tensor);
}

bool same_results(const Execution& a, const Execution& b) {
  return !a.error && !b.error && a.findings.empty() && b.findings.empty() &&
         !b.out_of_bounds_write && a.storages == b.storages &&
         std::ranges::equal(a.results, b.results, same_tensor);
}

}  // namespace

Verdict judge(const specs::Bundle& bundle, const TestCase& test, const Expected& expected,
              const Execution& actual, const DeviceClaims& claims) {
  return Judge(bundle, test, expected, actual, claims).run();
}

Verdict run_case(const specs::Bundle& bundle, const TestCase& test, DeviceRunner& device) {
  Expected expected = evaluate(bundle, test, device.claims().traits);
  if (std::optional<std::string> mistake = case_mistake(test, expected)) {
    return Verdict::of(Outcome::test_bug, *mistake);
  }
  if (device.claims().flush_f32)
    expected.flushed = flushed_answer(bundle, test, device.claims().traits);
  Execution actual = run_on(device, test);
  Verdict verdict = judge(bundle, test, expected, actual, device.claims());
  if (verdict.outcome != Outcome::pass || !device.claims().keeps_state) return verdict;
  // Once more: the second call takes the plan and the kernels of the first.
  Execution again = run_on(device, test);
  if (same_results(actual, again)) return verdict;
  Verdict second = judge(bundle, test, expected, again, device.claims());
  if (second.outcome == Outcome::pass) return verdict;
  second.detail = "the same call made again: " + second.detail;
  return second;
}

}  // namespace primset::conformance
