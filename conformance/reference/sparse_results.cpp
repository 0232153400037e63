#include "conformance/reference/sparse_results.h"

#include <algorithm>

#include "conformance/reference/dense_twin.h"
#include "conformance/reference/sparse_statements.h"
#include "prims/reference/array.h"
#include "prims/reference/element.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;

Expected refused_with(ErrorCode code, std::string why) {
  Expected out;
  out.error = CaughtError{code, std::move(why)};
  return out;
}

// A tensor that gets a result, and the argument that it is, or is in the list of.
struct Target {
  uint32_t argument;
  HostTensor tensor;
};

// In the order of the results: those that out= names, or what is written in place.
std::vector<Target> targets_of(const specs::Overload& overload, const TestCase& test) {
  std::vector<Target> out;
  for (uint32_t i = 0; i < overload.args.size(); ++i) {
    const bool in_place = overload.kind == specs::OverloadKind::inplace;
    if (!(in_place ? overload.args[i].alias.writes : overload.args[i].is_out)) continue;
    if (const auto* t = std::get_if<HostTensor>(&test.args.at(i))) out.push_back({i, *t});
    if (const auto* list = std::get_if<TensorList>(&test.args.at(i))) {
      for (const auto& t : *list) out.push_back({i, t.value()});
    }
  }
  return out;
}

// A sparse tensor becomes the result, with parts of its own or new ones; a strided one takes the
// elements.
void write_result(Expected& expected, ExpectedTensor& r, uint32_t argument, const HostTensor& to) {
  if (to.is_sparse() != (r.layout != Layout::strided))
    throw Error(ErrorCode::runtime, "the result has another layout than what it is written to");
  if (to.is_sparse() && to.dtype != r.dtype)
    throw Error(ErrorCode::runtime, "the result has another dtype than what it is written to");
  r.origin = Origin::argument;
  r.argument = argument;
  r.anywhere = false;
  if (to.is_sparse()) {
    for (const HostTensor& part : to.parts) expected.written.push_back({part, {}});
    return;
  }
  if (r.values) {
    for (Element& e : r.values->data) e = ref::convert(e, r.dtype, to.dtype);
    r.values->dtype = to.dtype;
  }
  r.dtype = to.dtype;
  r.offset = to.offset;
  r.strides = to.sizes == r.sizes ? to.strides : ref::row_major_strides(r.sizes);
  HostTensor grown = to;
  grown.sizes = r.sizes;
  grown.strides = *r.strides;
  expected.written.push_back({grown, r.values});
}

Expected written_to(const specs::Overload& overload, const TestCase& test, Expected e) {
  if (e.error) return e;
  const std::vector<Target> targets = targets_of(overload, test);
  for (size_t i = 0; i < std::min(targets.size(), e.results.size()); ++i)
    write_result(e, e.results[i], targets[i].argument, targets[i].tensor);
  // What a list is left as is returned by none; of a strided tensor its memory shows it.
  if (overload.returns.empty()) {
    std::erase_if(e.results, [](const ExpectedTensor& r) { return r.layout == Layout::strided; });
  }
  return e;
}

Expected functional_results(const specs::Bundle& bundle, const specs::Overload& overload,
                            const TestCase& test, decomps::DeviceTraits device) {
  if (overload.base != specs::kNoIndex) {
    const specs::Overload& base = bundle.overloads.at(overload.base);
    return written_to(
        overload, test,
        functional_results(bundle, base, functional_case(bundle, overload, test), device));
  }
  if (const SparseStatement stated = find_sparse_statement(bundle.computed_by(overload).sparse))
    return stated(StatedCall(bundle, overload, test, device));
  return twin_results(bundle, overload, test, device);
}

}  // namespace

bool is_sparse_call(const specs::Bundle& bundle, const specs::Overload& overload,
                    const TestCase& test) {
  const specs::Overload& computed = bundle.computed_by(overload);
  if (!computed.sparse.empty() && computed.implementation.kind == specs::ImplKind::none &&
      overload.intrinsic.empty())
    return true;
  const bool asked = std::ranges::any_of(test.args, [](const ArgValue& v) {
    const auto* layout = std::get_if<Layout>(&v);
    return layout && *layout != Layout::strided;
  });
  return asked || std::ranges::any_of(tensors_with_sparse(test), &HostTensor::is_sparse);
}

Expected sparse_results(const specs::Bundle& bundle, const specs::Overload& overload,
                        const TestCase& test, decomps::DeviceTraits device) {
  if (test.expected_error)
    return refused_with(*test.expected_error, "the case says that the call is refused");
  if (bundle.computed_by(overload).sparse.empty())
    return refused_with(ErrorCode::not_implemented, "the operator takes no sparse layouts");
  try {
    return functional_results(bundle, overload, test, device);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::internal) throw;
    return refused_with(e.code(), e.what());
  }
}

}  // namespace primset::conformance
