#include "conformance/reference/dense_twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "conformance/cases/inputs/make_operator.h"
#include "conformance/cases/inputs/sparse_values.h"
#include "prims/reference/element.h"
#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

struct DenseTwin {
  std::string_view op, twin;
  // Where elements that are not stored say nothing: the argument whose stored elements the result
  // has, and what the twin sees in the place of its others.
  std::string_view stored_as = {};
  double elsewhere = 0;
  // A sparse result has the dtype of the first argument, not the twin's.
  bool own_dtype = false;
  // How far a device may be besides, in roundoffs: it solves in another way.
  double roundoffs = 0;
};
constexpr DenseTwin kDenseTwins[] = {
    {"_sparse_mm", "mm"},
    {"_sparse_sparse_matmul", "mm"},
    {"hspmm", "mm"},
    {"smm", "mm"},
    {"sspaddmm", "addmm", {}, 0, false, 16},
    {"_sparse_addmm", "addmm"},
    {"sparse_sampled_addmm", "addmm", "self"},
    {"_sparse_sum", "sum"},
    {"_sparse_sum.dtype", "sum"},
    {"_sparse_sum.dim", "sum.dim_IntList", {}, 0, true},
    {"_sparse_sum.dim_dtype", "sum.dim_IntList"},
    {"_sparse_csr_sum.dim_dtype", "sum.dim_IntList"},
    {"_sparse_softmax", "_softmax", "self", -HUGE_VAL},
    {"_sparse_softmax.int", "softmax.int", "self", -HUGE_VAL},
    {"_sparse_log_softmax", "_log_softmax", "self", -HUGE_VAL},
    {"_sparse_log_softmax.int", "log_softmax.int", "self", -HUGE_VAL},
    {"_sparse_broadcast_to", "expand"},
    {"_sparse_broadcast_to_copy", "expand"},
    {"copy_sparse_to_sparse", "copy"},
    {"sparse_mask", "alias", "mask"},
    {"_sparse_mask_projection", "alias", "mask"},
    {"_spsolve", "linalg_solve", {}, 0, false, 64},
    {"embedding_sparse_backward", "embedding_dense_backward"},
    {"_embedding_bag_sparse_backward", "_embedding_bag_dense_backward"},
    {"to_dense_backward", "alias", "input"},
};

const DenseTwin* find_dense_twin(const specs::Overload& overload) {
  const auto* t =
      std::ranges::find(kDenseTwins, std::string_view(overload.qualified), &DenseTwin::op);
  return t == std::end(kDenseTwins) ? nullptr : t;
}

bool computes_strided(const specs::Bundle& bundle, const specs::Overload& overload) {
  const specs::Overload& o = bundle.computed_by(overload);
  return o.implementation.kind != specs::ImplKind::none || !overload.intrinsic.empty();
}

Element number_of(double v, DType t) {
  Element e;
  e.re = static_cast<long double>(v);
  return prims::reference::convert(e, DType::f64, t);
}

HostTensor as_dense(TestCase& test, const HostTensor& t, double elsewhere) {
  if (!t.is_sparse()) return t;
  const SparseValues sparse = read_sparse(test.storages, t);
  Array dense = made_dense(sparse);
  if (elsewhere != 0) {
    const Array stored = stored_elements(sparse);
    for (size_t i = 0; i < dense.data.size(); ++i) {
      if (stored.data[i].integer == 0) dense.data[i] = number_of(elsewhere, dense.dtype);
    }
  }
  return place(test.storages, dense, LayoutKind::contiguous);
}

ArgValue as_dense(TestCase& test, const ArgValue& v, double elsewhere) {
  if (std::holds_alternative<Layout>(v)) return std::monostate{};
  if (const auto* t = std::get_if<HostTensor>(&v)) return as_dense(test, *t, elsewhere);
  const auto* list = std::get_if<TensorList>(&v);
  if (!list) return v;
  TensorList out;
  for (const auto& t : *list)
    out.push_back(t ? std::optional(as_dense(test, *t, elsewhere)) : std::nullopt);
  return out;
}

// The twin's arguments: the namesakes, else what stands at their places.
TestCase dense_case(const specs::Overload& overload, const specs::Overload& twin,
                    const DenseTwin* entry, const TestCase& test) {
  TestCase out;
  out.id = test.id;
  out.id.subject = twin.qualified;
  out.storages = test.storages;
  for (size_t i = 0; i < twin.args.size(); ++i) {
    int from = overload.find_arg(twin.args[i].name);
    if (from < 0 && i < overload.args.size() && overload.args[i].kind == twin.args[i].kind)
      from = static_cast<int>(i);
    if (from < 0) {
      out.args.push_back(default_argument(twin.args[i]));
      continue;
    }
    const auto at = static_cast<size_t>(from);
    const bool masked = entry && overload.args[at].name == entry->stored_as;
    out.args.push_back(as_dense(out, test.args.at(at), masked ? entry->elsewhere : 0));
  }
  return out;
}

Layout layout_of_results(const TestCase& test) {
  for (const HostTensor& t : tensors_with_sparse(test)) {
    if (t.is_sparse()) return t.layout;
  }
  for (const ArgValue& v : test.args) {
    if (const auto* l = std::get_if<Layout>(&v)) return *l;
  }
  return Layout::strided;
}

void keep_stored(ExpectedTensor& r, const Array& stored) {
  if (!r.values || stored.shape != r.values->shape) return;
  for (size_t i = 0; i < stored.data.size(); ++i) {
    if (stored.data[i].integer == 0) r.values->data[i] = number_of(0, r.values->dtype);
  }
}

void adapt(ExpectedTensor& r, const DenseTwin& entry, const TestCase& test) {
  namespace ref = prims::reference;
  const DType own = std::get<HostTensor>(test.args[0]).dtype;
  if (entry.own_dtype && r.dtype != own && r.layout != Layout::strided) {
    for (Element& e : r.values->data) e = ref::convert(e, r.dtype, own);
    r.dtype = r.values->dtype = own;
  }
  if (entry.roundoffs == 0 || !is_floating(real_type(r.dtype))) return;
  for (Element& e : r.values->data) {
    e.error += static_cast<long double>(entry.roundoffs) * ref::unit_roundoff(real_type(r.dtype)) *
               std::abs(std::complex<long double>(e.re, e.im));
  }
}

}  // namespace

Expected twin_results(const specs::Bundle& bundle, const specs::Overload& overload,
                      const TestCase& test, decomps::DeviceTraits device) {
  const DenseTwin* entry = find_dense_twin(overload);
  const specs::Overload* twin = entry ? bundle.find_overload(entry->twin)
                                : computes_strided(bundle, overload) ? &overload
                                                                     : nullptr;
  if (!twin)
    throw Error(ErrorCode::internal,
                fmt::format("{}: neither a statement nor a dense twin says what it gives",
                            overload.qualified));
  Expected e = evaluate(bundle, dense_case(overload, *twin, entry, test), device);
  // The twin's graph is not what runs, and zeros may have another sign where nothing is stored.
  e.graph = nullptr;
  e.written.clear();
  const Layout usual = layout_of_results(test);
  for (size_t i = 0; i < e.results.size(); ++i) {
    ExpectedTensor& r = e.results[i];
    r.layout = i < test.result_layouts.size() ? test.result_layouts[i] : usual;
    r.strides = std::nullopt;
    r.offset = std::nullopt;
    r.origin = Origin::fresh;
    r.anywhere = true;
    r.conj = r.neg = false;
    if (entry) adapt(r, *entry, test);
    if (!entry || entry->stored_as.empty()) continue;
    const int at = overload.find_arg(entry->stored_as);
    const auto& mask = std::get<HostTensor>(test.args.at(static_cast<size_t>(at)));
    if (mask.is_sparse()) keep_stored(r, stored_elements(read_sparse(test.storages, mask)));
  }
  return e;
}

}  // namespace primset::conformance
