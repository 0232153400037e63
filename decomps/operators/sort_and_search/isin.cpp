// Which elements are among others.
#include <fmt/format.h>

#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/comparison.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_searchable(DType t) {
  require(!is_bool(t) && !is_complex(t), ErrorCode::runtime,
          fmt::format("Unsupported input type encountered for isin(): {}", aten_name(t)));
}

Val among_few(const Val& elements, const Val& tests) {
  const int64_t last = elements.rank();
  return reduce(Prim::reduce_or, eq(unsqueeze(elements, last), tests), {last}, false);
}

// By a binary search for each element. NaN, which is last and equal to nothing, is taken for
// infinity on the way, so that the search goes on to the left of it.
Val among_many(Tracer& t, const Val& elements, const Val& tests) {
  const Val sorted = t.prim(Prim::sort, {tests}, {{"dim", int64_t{0}}, {"descending", false}})[0];
  const bool has_nan = is_floating(tests.dtype());
  const Val ordered =
      has_nan ? where(is_nan(sorted), full_like(sorted, std::numeric_limits<double>::infinity()),
                      sorted)
              : sorted;
  const Val place = t.prim1(Prim::search_sorted, {ordered, elements, Val()}, {{"right", false}});
  const Val inside = binary(Prim::min, place, full_like(place, tests.size(0) - 1));
  return eq(t.wrap(t.builder().gather(sorted.id(), {inside.id()}, {0}, true, "index")), elements);
}

Val found(Tracer& t, const Val& elements, const Val& test_elements, bool invert) {
  constexpr int64_t kFew = 16;
  require_searchable(elements.dtype());
  require_searchable(test_elements.dtype());
  const auto operand = [](const Val& v) {
    using enum PromotionOperand::Category;
    return PromotionOperand{v.dtype(), v.wrapped_number() ? number
                                       : v.rank()         ? dimensioned
                                                          : zero_dim};
  };
  const PromotionOperand operands[] = {operand(elements), operand(test_elements)};
  const DType common = result_type(operands);
  const Val x = convert(elements, common), tests = flattened(convert(test_elements, common));
  if (x.is_empty() || tests.is_empty()) return t.constant(invert, DType::boolean, x.shape());
  const Val is_in = tests.size(0) <= SymInt(kFew) ? among_few(x, tests) : among_many(t, x, tests);
  return invert ? ~is_in : is_in;
}

}  // namespace

Val isin::decompose(Tracer& t, const Val& elements, const Val& test_elements, bool, bool invert) {
  return found(t, elements, test_elements, invert);
}

Val isin_tensor_scalar::decompose(Tracer& t, const Val& elements, const ScalarArg& test_element,
                                  bool, bool invert) {
  require_searchable(elements.dtype());
  require_searchable(test_element.value.dtype());
  return t.call1(invert ? "ne.Scalar" : "eq.Scalar", {elements, test_element});
}

Val isin_scalar_tensor::decompose(Tracer& t, const ScalarArg& element, const Val& test_elements,
                                  bool, bool invert) {
  return found(t, element.value, test_elements, invert);
}

}  // namespace primset::decomps
