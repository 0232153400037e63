#include "conformance/reference/sparse_statements.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "conformance/reference/host_results.h"
#include "prims/reference/array.h"
#include "prims/reference/element.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;

[[noreturn]] void refuse_sparse(const std::string& why) {
  throw Error(ErrorCode::runtime, why);
}

Expected one_result(ExpectedTensor r) {
  Expected out;
  out.results.push_back(std::move(r));
  return out;
}

Array cast_to(Array a, DType to) {
  for (Element& e : a.data) e = ref::convert(e, a.dtype, to);
  a.dtype = to;
  return a;
}

const HostTensor& coo_self(const StatedCall& c) {
  if (c.tensor(0).layout != Layout::sparse_coo) refuse_sparse("self is no COO tensor");
  return c.tensor(0);
}

// --- parts ---------------------------------------------------------------------------------------

// A view of the part, or a copy where the operator's name says so.
Expected part_of(const StatedCall& c, const HostTensor& part) {
  ExpectedTensor r;
  r.dtype = part.dtype;
  r.sizes = part.sizes;
  r.values = read(c.test.storages, part);
  if (!c.overload.op.ends_with("_copy")) {
    r.origin = Origin::view;
    r.strides = part.strides;
    r.offset = part.offset;
  }
  return one_result(std::move(r));
}

// What begins with _ asks for the parts of any COO tensor.
Expected part_of_coo(const StatedCall& c, size_t part) {
  const HostTensor& self = coo_self(c);
  if (!self.coalesced && !c.overload.op.starts_with("_")) refuse_sparse("self is not coalesced");
  return part_of(c, self.parts[part]);
}

Expected values_of(const StatedCall& c) {
  const HostTensor& self = c.tensor(0);
  const bool compressed = self.is_sparse() && self.layout != Layout::sparse_coo;
  return compressed && !c.overload.op.starts_with("_") ? part_of(c, self.parts.back())
                                                       : part_of_coo(c, 1);
}

Expected part_of_compressed(const StatedCall& c, bool rows, size_t part) {
  const HostTensor& self = c.tensor(0);
  if (!self.is_sparse() || self.layout == Layout::sparse_coo ||
      compresses_rows(self.layout) != rows)
    refuse_sparse("self is compressed along no such dim");
  return part_of(c, self.parts[part]);
}

// --- numbers -------------------------------------------------------------------------------------

Expected count_entries(const StatedCall& c) {
  if (!c.tensor(0).is_sparse()) refuse_sparse("self is strided");
  return expected_integer(read_sparse(c.test.storages, c.tensor(0)).entries());
}

int64_t sparse_dims_of(const StatedCall& c, const HostTensor& t) {
  if (t.layout == Layout::sparse_coo) return read_sparse(c.test.storages, t).parts[0].shape[0];
  return t.is_sparse() ? 2 : 0;
}

int64_t dense_dims_of(const StatedCall& c, const HostTensor& t) {
  return t.is_sparse() ? read_sparse(c.test.storages, t).dense_dims() : std::ssize(t.sizes);
}

// --- other layouts -------------------------------------------------------------------------------

bool is_zero(const Element& e) {
  return e.integer == 0 && e.re == 0 && e.im == 0;
}

// Blocks of one matrix in which an element is stored, by place, or of COO places of the sparse
// dims. Every matrix of a batch must have as many.
int64_t number_of_blocks(const Array& stored, size_t sparse, size_t batch, const Ints& block) {
  std::map<Ints, std::set<Ints>> matrices;
  ref::for_each_index(stored.shape, [&](const Ints& index, size_t at) {
    const auto end = index.begin() + static_cast<ptrdiff_t>(sparse);
    const auto middle = index.begin() + static_cast<ptrdiff_t>(batch);
    Ints place(middle, end);
    for (size_t k = 0; k < block.size(); ++k) place[k] /= block[k];
    std::set<Ints>& places = matrices[Ints(index.begin(), middle)];
    if (!is_zero(stored.data[at])) places.insert(std::move(place));
  });
  if (matrices.empty()) return 0;
  const size_t count = matrices.begin()->second.size();
  for (const auto& [matrix, places] : matrices) {
    if (places.size() != count) refuse_sparse("matrices of a batch have different numbers");
  }
  return static_cast<int64_t>(count);
}

Layout wanted_layout(const StatedCall& c) {
  for (Layout l :
       {Layout::sparse_csr, Layout::sparse_csc, Layout::sparse_bsr, Layout::sparse_bsc}) {
    if (c.overload.op.ends_with(layout_name(l).substr(6))) return l;
  }
  const auto* given = c.find<Layout>("layout");
  return given ? *given : Layout::sparse_coo;
}

Expected strided_result(Array values) {
  ExpectedTensor r;
  r.dtype = values.dtype;
  r.sizes = values.shape;
  r.values = std::move(values);
  r.anywhere = true;
  return one_result(std::move(r));
}

Expected to_sparse(const StatedCall& c) {
  const HostTensor& self = c.tensor(0);
  const Layout layout = wanted_layout(c);
  Array dense = dense_values(c.test.storages, self);
  if (layout == Layout::strided) return strided_result(std::move(dense));
  const Array stored =
      self.is_sparse() ? stored_elements(read_sparse(c.test.storages, self)) : dense;
  const auto rank = std::ssize(self.sizes);
  const int64_t dense_dims = self.is_sparse()
                                 ? dense_dims_of(c, self)
                                 : rank - c.integer("sparse_dim", rank - c.integer("dense_dim", 0));
  const bool coo = layout == Layout::sparse_coo;
  if (dense_dims < 0 || rank - dense_dims < (coo ? (rank > 0 ? 1 : 0) : 2))
    refuse_sparse("there are not so many dims");
  const auto sparse = static_cast<size_t>(rank - dense_dims);
  const auto* block = c.find<Ints>("blocksize");
  ExpectedTensor r;
  r.dtype = self.dtype;
  r.sizes = self.sizes;
  r.values = std::move(dense);
  r.layout = layout;
  r.anywhere = true;
  r.dense_dims = dense_dims;
  if (coo) r.coalesced = !self.is_sparse() || self.coalesced;
  if (coo && self.is_sparse() && self.layout != Layout::sparse_coo) r.coalesced = std::nullopt;
  r.entries = self.layout == layout && coo
                  ? read_sparse(c.test.storages, self).entries()
                  : number_of_blocks(stored, sparse, coo ? 0 : sparse - 2,
                                     has_blocks(layout) && block ? *block : Ints{});
  return one_result(std::move(r));
}

Expected to_dense(const StatedCall& c) {
  Array dense = dense_values(c.test.storages, c.tensor(0));
  const auto* dtype = c.find<DType>("dtype");
  if (dtype && c.tensor(0).is_sparse() && *dtype != dense.dtype)
    refuse_sparse("a sparse tensor is made dense in its own dtype");
  return strided_result(dtype ? cast_to(std::move(dense), *dtype) : std::move(dense));
}

Expected coalesce(const StatedCall& c) {
  const SparseValues self = read_sparse(c.test.storages, coo_self(c));
  ExpectedTensor r = expected_sparse(self);
  const auto sparse = static_cast<size_t>(self.parts[0].shape[0]);
  std::set<Ints> places;
  const auto count = static_cast<size_t>(self.entries());
  for (size_t e = 0; e < count; ++e) {
    Ints place(sparse);
    for (size_t d = 0; d < sparse; ++d) place[d] = self.parts[0].data[d * count + e].integer;
    places.insert(std::move(place));
  }
  r.entries = std::ssize(places);
  r.coalesced = true;
  return one_result(std::move(r));
}

Expected mark_coalesced(const StatedCall& c) {
  ExpectedTensor r = expected_sparse(read_sparse(c.test.storages, coo_self(c)));
  r.coalesced = *c.find<bool>("coalesced");
  return one_result(std::move(r));
}

// --- from parts ----------------------------------------------------------------------------------

const HostTensor* first_of(const StatedCall& c, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto* t = c.find<HostTensor>(name)) return t;
  }
  return nullptr;
}

Layout layout_of_parts(const StatedCall& c) {
  for (Layout l :
       {Layout::sparse_csr, Layout::sparse_csc, Layout::sparse_bsr, Layout::sparse_bsc}) {
    const std::string name = std::string(layout_name(l).substr(6)) + "_";
    if (c.overload.op.find(name) != std::string::npos) return l;
  }
  const auto* given = c.find<Layout>("layout");
  if (!given || *given == Layout::strided || *given == Layout::sparse_coo)
    refuse_sparse("no compressed layout is named");
  return *given;
}

int64_t greatest(const Array& a, size_t from, size_t count) {
  int64_t out = -1;
  for (size_t i = from; i < from + count; ++i) out = std::max(out, a.data[i].integer);
  return out;
}

// Sizes that the parts need, where none are given.
Ints least_sizes_of(const SparseValues& t) {
  const Ints& values = t.values().shape;
  Ints out;
  size_t dense_from = 1;
  if (t.layout == Layout::sparse_coo) {
    const Array& indices = t.parts[0];
    const auto count = static_cast<size_t>(indices.shape.at(1));
    for (size_t d = 0; d < static_cast<size_t>(indices.shape[0]); ++d)
      out.push_back(greatest(indices, d * count, count) + 1);
  } else {
    const Array &pointers = t.parts[0], &plain = t.parts[1];
    out.assign(pointers.shape.begin(), pointers.shape.end() - 1);
    dense_from = out.size() + 1 + (has_blocks(t.layout) ? 2 : 0);
    int64_t extents[2] = {pointers.shape.back() - 1, greatest(plain, 0, plain.data.size()) + 1};
    if (!compresses_rows(t.layout)) std::swap(extents[0], extents[1]);
    for (size_t k = 0; k < 2; ++k)
      extents[k] *= has_blocks(t.layout) ? values.at(pointers.shape.size() + k) : 1;
    out.insert(out.end(), extents, extents + 2);
  }
  for (size_t d = dense_from; d < values.size(); ++d) out.push_back(values[d]);
  return out;
}

SparseValues given_parts(const StatedCall& c) {
  SparseValues t;
  const HostTensor* indices = c.find<HostTensor>("indices");
  if (!indices) {
    t.layout = layout_of_parts(c);
    indices = first_of(c, {"compressed_indices", "crow_indices", "ccol_indices"});
    const HostTensor* plain = first_of(c, {"plain_indices", "col_indices", "row_indices"});
    t.parts = {read(c.test.storages, *indices), read(c.test.storages, *plain)};
  } else {
    t.parts = {read(c.test.storages, *indices)};
  }
  t.parts.push_back(read(c.test.storages, *c.find<HostTensor>("values")));
  if (const auto* dtype = c.find<DType>("dtype")) t.parts.back() = cast_to(t.parts.back(), *dtype);
  const auto* coalesced = c.find<bool>("is_coalesced");
  t.coalesced = coalesced && *coalesced;
  const auto* size = c.find<Ints>("size");
  t.sizes = size ? *size : least_sizes_of(t);
  return t;
}

// A tensor of the given sizes without any element that is known.
Expected of_sizes(const StatedCall& c, Layout layout, int64_t entries, int64_t dense) {
  ExpectedTensor r;
  const auto* dtype = c.find<DType>("dtype");
  r.dtype = dtype ? *dtype : DType::f32;
  r.sizes = *c.find<Ints>("size");
  r.layout = layout;
  r.entries = entries;
  r.dense_dims = dense;
  if (entries == 0) r.values = nothing_stored(r.dtype, r.sizes);
  return one_result(std::move(r));
}

Expected of_parts(const StatedCall& c) {
  if (!c.find<HostTensor>("values")) return of_sizes(c, Layout::sparse_coo, 0, 0);
  const SparseValues t = given_parts(c);
  if (const std::string wrong = pattern_mistake(t); !wrong.empty()) refuse_sparse(wrong);
  ExpectedTensor r = expected_sparse(t);
  if (!c.find<bool>("is_coalesced")) r.coalesced = std::nullopt;
  return one_result(std::move(r));
}

// Columns (rows) of compressed layouts are to lie without gaps besides.
Expected validate(const StatedCall& c) {
  const HostTensor* plain = first_of(c, {"plain_indices", "col_indices", "row_indices"});
  if (plain && (plain->strides.empty() || plain->strides.back() != 1))
    refuse_sparse("plain indices do not lie without gaps");
  if (const std::string wrong = pattern_mistake(given_parts(c)); !wrong.empty())
    refuse_sparse(wrong);
  return {};
}

// Pointers and indices alone are those of a matrix of the stated sizes.
Expected validate_indices(const StatedCall& c) {
  SparseValues t;
  const bool rows = *c.find<bool>("is_crow");
  t.layout = rows ? Layout::sparse_csr : Layout::sparse_csc;
  t.parts = {read(c.test.storages, c.tensor(1)), read(c.test.storages, c.tensor(2))};
  t.parts.push_back(ref::make_array(DType::f32, t.parts[1].shape));
  t.sizes = t.parts[0].shape;
  t.sizes.back() = c.integer(rows ? "cdim" : "dim", 0);
  t.sizes.push_back(c.integer(rows ? "dim" : "cdim", 0));
  const std::string wrong = pattern_mistake(t);
  if (!wrong.empty() || t.entries() != c.integer("nnz", 0)) refuse_sparse(wrong);
  return {};
}

constexpr std::pair<std::string_view, SparseStatement> kStatements[] = {
    {"indices_of", [](const StatedCall& c) { return part_of_coo(c, 0); }},
    {"values_of", values_of},
    {"row_pointers_of", [](const StatedCall& c) { return part_of_compressed(c, true, 0); }},
    {"column_indices_of", [](const StatedCall& c) { return part_of_compressed(c, true, 1); }},
    {"column_pointers_of", [](const StatedCall& c) { return part_of_compressed(c, false, 0); }},
    {"row_indices_of", [](const StatedCall& c) { return part_of_compressed(c, false, 1); }},
    {"count_entries", count_entries},
    {"count_sparse_dims",
     [](const StatedCall& c) { return expected_integer(sparse_dims_of(c, c.tensor(0))); }},
    {"count_dense_dims",
     [](const StatedCall& c) { return expected_integer(dense_dims_of(c, c.tensor(0))); }},
    {"count_coo_sparse_dims",
     [](const StatedCall& c) { return expected_integer(sparse_dims_of(c, coo_self(c))); }},
    {"count_coo_dense_dims",
     [](const StatedCall& c) { return expected_integer(dense_dims_of(c, coo_self(c))); }},
    {"ask_coalesced", [](const StatedCall& c) { return expected_truth(coo_self(c).coalesced); }},
    {"ask_geometry",
     [](const StatedCall& c) { return host_results(c.bundle, c.overload, c.test, c.device); }},
    {"to_sparse", to_sparse},
    {"to_dense", to_dense},
    {"coalesce", coalesce},
    {"mark_coalesced", mark_coalesced},
    {"coo_tensor", of_parts},
    {"coo_of_parts", of_parts},
    {"compressed_tensor", of_parts},
    {"coo_of_sizes",
     [](const StatedCall& c) {
       return of_sizes(c, Layout::sparse_coo, 0, c.integer("dense_dim", 0));
     }},
    {"compressed_of_sizes",
     [](const StatedCall& c) {
       return of_sizes(c, layout_of_parts(c), c.integer("nnz", 0), c.integer("dense_dim", 0));
     }},
    {"validate_coo", validate},
    {"validate_compressed", validate},
    {"validate_indices", validate_indices},
};

}  // namespace

SparseStatement find_sparse_statement(std::string_view function) {
  const auto* s = std::ranges::find(kStatements, function,
                                    &std::pair<std::string_view, SparseStatement>::first);
  return s == std::end(kStatements) ? find_sparse_arithmetic(function) : s->second;
}

ExpectedTensor expected_sparse(const SparseValues& t) {
  ExpectedTensor r;
  r.dtype = t.values().dtype;
  r.sizes = t.sizes;
  r.values = made_dense(t);
  r.layout = t.layout;
  r.entries = t.entries();
  r.dense_dims = t.dense_dims();
  r.coalesced = t.coalesced;
  r.anywhere = true;
  return r;
}

}  // namespace primset::conformance
