#include "decomps/operators/matmul/labelled_product.h"

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Labels = std::vector<int>;

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int64_t dim_of(const Labelled& x, int label) {
  return std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin();
}

// Without the labels that `kept` refuses, which are summed over.
template <typename Kept>
Labelled summed(const Labelled& x, Kept kept) {
  std::vector<int64_t> dims;
  Labels rest;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (kept(x.labels[d])) {
      rest.push_back(x.labels[d]);
    } else {
      dims.push_back(static_cast<int64_t>(d));
    }
  }
  if (dims.empty()) return x;
  // As sum() does, which counts.
  if (is_bool(x.value.dtype()))
    return {reduce(Prim::reduce_sum, convert(x.value, DType::i64), dims, false), rest};
  if (is_float8(x.value.dtype())) not_implemented_for("sum_cpu", x.value.dtype());
  const Val sum = reduce(Prim::reduce_sum, opmath(x.value), dims, false);
  return {convert(sum, x.value.dtype()), rest};
}

// Dims of size 1 that stand beside longer ones go away.
Labelled without_repeated(const Labelled& x, const Labelled& beside) {
  Labelled out = x;
  for (size_t d = out.labels.size(); d-- > 0;) {
    const int label = out.labels[d];
    if (!contains(beside.labels, label)) continue;
    const SymInt other = beside.value.size(dim_of(beside, label));
    const bool repeated = known_equal(out.value.size(static_cast<int64_t>(d)), 1) == true &&
                          known_equal(other, 1) != true;
    if (!repeated) continue;
    out.value = squeeze(out.value, static_cast<int64_t>(d));
    out.labels.erase(out.labels.begin() + static_cast<std::ptrdiff_t>(d));
  }
  return out;
}

// Without a sum a product is one of elements, which any dtype has. x is [shared, own] of the result
// [shared, before, own, behind].
Val spread(Val x, const std::vector<int64_t>& order, size_t shared, size_t before, size_t behind) {
  x = transpose(x, order);
  for (size_t i = 0; i < before; ++i) x = unsqueeze(x, static_cast<int64_t>(shared));
  for (size_t i = 0; i < behind; ++i) x = unsqueeze(x, x.rank());
  return x;
}

Val product_of_elements(const Labelled& a, const Labelled& b, const Labels& shared,
                        const Labels& a_own, const Labels& b_own) {
  const auto order = [&](const Labelled& x, const Labels& own) {
    std::vector<int64_t> out;
    for (const Labels* labels : {&shared, &own}) {
      for (int l : *labels) out.push_back(dim_of(x, l));
    }
    return out;
  };
  return a.value.tracer().call1("mul.Tensor",
                                {spread(a.value, order(a, a_own), shared.size(), 0, b_own.size()),
                                 spread(b.value, order(b, b_own), shared.size(), a_own.size(), 0)});
}

Labelled pair_product(const Labelled& left, const Labelled& right, const Labels& needed) {
  Labelled a =
      summed(left, [&](int l) { return contains(needed, l) || contains(right.labels, l); });
  Labelled b =
      summed(right, [&](int l) { return contains(needed, l) || contains(left.labels, l); });
  a = without_repeated(a, b);
  b = without_repeated(b, a);
  // What only one of them still has, and nobody needs, is summed alone.
  a = summed(a, [&](int l) { return contains(needed, l) || contains(b.labels, l); });
  b = summed(b, [&](int l) { return contains(needed, l) || contains(a.labels, l); });
  std::vector<int64_t> a_contract, b_contract, a_batch, b_batch;
  Labels batch, a_free, b_free;
  for (int l : a.labels) {
    if (!contains(b.labels, l)) {
      a_free.push_back(l);
      continue;
    }
    (contains(needed, l) ? a_batch : a_contract).push_back(dim_of(a, l));
    (contains(needed, l) ? b_batch : b_contract).push_back(dim_of(b, l));
    if (contains(needed, l)) batch.push_back(l);
  }
  for (int l : b.labels) {
    if (!contains(a.labels, l)) b_free.push_back(l);
  }
  Tracer& t = a.value.tracer();
  const DType type = a.value.dtype();
  Labels labels = batch;
  labels.insert(labels.end(), a_free.begin(), a_free.end());
  labels.insert(labels.end(), b_free.begin(), b_free.end());
  if (is_bool(type) || is_bool(b.value.dtype()) || is_float8(type)) {
    if (!a_contract.empty()) not_implemented_for("bmm", is_float8(type) ? type : DType::boolean);
    return {product_of_elements(a, b, batch, a_free, b_free), labels};
  }
  const Val product = t.wrap(t.builder().dot_general(
      a.value.id(), b.value.id(), a_contract, b_contract, a_batch, b_batch, opmath_type(type)));
  return {convert(product, type), labels};
}

}  // namespace

Val labelled_product(std::vector<Labelled> operands, const Labels& result) {
  Labelled done = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels needed = result;
    for (size_t j = i + 1; j < operands.size(); ++j)
      needed.insert(needed.end(), operands[j].labels.begin(), operands[j].labels.end());
    done = pair_product(done, operands[i], needed);
  }
  done = summed(done, [&](int l) { return contains(result, l); });
  // A label that every operand had with size 1, and lost, is there again.
  for (int l : result) {
    if (contains(done.labels, l)) continue;
    done.value = unsqueeze(done.value, done.value.rank());
    done.labels.push_back(l);
  }
  std::vector<int64_t> order;
  for (int l : result) order.push_back(dim_of(done, l));
  return transpose(done.value, order);
}

}  // namespace primset::decomps
