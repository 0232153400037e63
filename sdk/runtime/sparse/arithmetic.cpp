// Sums, products and quotients of sparse tensors with each other, with strided ones and with
// numbers.
#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

bool subtracts(const SparseCall& call) {
  return call.op().starts_with("sub");
}

// --- sums ----------------------------------------------------------------------------------------

// What a sum's or difference's second term adds: alpha times it, or less, in the common dtype. What
// is wrong with the dtypes or alpha is told by the operator itself, of no elements.
Tensor second_term(const SparseCall& call, const Tensor& other, DType common) {
  Tensor term = op("to.dtype", other, common);
  const Scalar alpha = call.has("alpha") ? call.scalar("alpha") : Scalar(1);
  if (!(alpha == Scalar(1))) term = op("to.dtype", op("mul.Scalar", term, alpha), common);
  return subtracts(call) ? op("neg", term) : term;
}

// The dtype of a sum of these values.
DType dtype_of_sum(const SparseCall& call, const Tensor& self, const Tensor& other) {
  const auto none = [](const Tensor& t) {
    return op("slice.Tensor", op("reshape", t, IntList{-1}), int64_t{0}, int64_t{0}, int64_t{0});
  };
  return call.functional({{"self", none(self)}, {"other", none(other)}}).dtype();
}

void require_same_sizes(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (!std::ranges::equal(self.sizes(), other.sizes()))
    call.fail(fmt::format("expected sizes of 'self' and 'other' to match, but {} != {}",
                          list_text(self.sizes()), list_text(other.sizes())));
}

bool same_indices(const SparseParts& a, const SparseParts& b) {
  if (a.indices.impl() == b.indices.impl()) return true;
  if (!std::ranges::equal(a.indices.sizes(), b.indices.sizes())) return false;
  return op("all", op("eq.Tensor", a.indices, b.indices)).item().to_bool();
}

// All entries of both. Those of one place meet where the tensors had each place once.
Tensor coo_sum(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (sparse_dims(self) != sparse_dims(other))
    call.fail(
        fmt::format("expected 'self' and 'other' to have same density, but 'self' has {} "
                    "sparse dimensions while 'other' has {} sparse dimensions",
                    sparse_dims(self), sparse_dims(other)));
  const SparseParts &a = parts_of(self), &b = parts_of(other);
  if (same_indices(a, b))  // in order where both are known to be
    return with_values(a.coalesced ? other : self,
                       call.functional({{"self", a.values}, {"other", b.values}}));
  const DType common = dtype_of_sum(call, a.values, b.values);
  const Tensor first = op("to.dtype", a.values, common);
  const Tensor second = second_term(call, b.values, common);
  if (stored_entries(other) == 0) return with_values(self, first);
  if (stored_entries(self) == 0) return with_values(other, second);
  const std::vector<Tensor> indices = {a.indices, b.indices}, values = {first, second};
  const Tensor all =
      make_coo(op("cat", indices, int64_t{1}), op("cat", values), self.sizes(), false);
  return a.coalesced && b.coalesced ? coalesced(all) : all;
}

Tensor compressed_sum(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (self.layout() != other.layout())
    call.fail(fmt::format("expected 'self' and 'other' of one sparse layout, but got {} and {}",
                          layout_name(self.layout()), layout_name(other.layout())));
  const Tensor sum = coo_sum(call, coalesced(to_coo(self)), coalesced(to_coo(other)));
  return coo_to_compressed(sum, self.layout(), block_of(self));
}

// A strided tensor with entries added to its elements.
Tensor strided_sum(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (!std::ranges::equal(self.sizes(), other.sizes()))
    call.fail(
        fmt::format("expected 'self' and 'other' to have same size, but self has size {} "
                    "while other has size {} (FYI: dense-sparse addition does not currently "
                    "support broadcasting)",
                    list_text(self.sizes()), list_text(other.sizes())));
  const Tensor coo = to_coo(other);
  const SparseParts& parts = parts_of(coo);
  const DType common = dtype_of_sum(call, self, parts.values);
  const Tensor start = op("to.dtype", self, common);
  const Tensor term = second_term(call, parts.values, common);
  const Sizes flat = concat({IntList{product(sparse_sizes(coo))}, dense_sizes(coo)});
  const Tensor sum = op("index_add", op("reshape", start, IntList(flat)), int64_t{0},
                        linear_indices(parts.indices, coo.sizes()), term);
  return op("reshape", sum, self.sizes());
}

// --- products ------------------------------------------------------------------------------------

// The entries of one tensor, each times what the other has at its place. Looked up is in that with
// more entries, or in the only one that is known to have each place once. As in ATen, where the
// other has none an entry stays as a zero, but not one of several values, nor where both are
// coalesced.
Tensor coo_product(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (!std::ranges::equal(sparse_sizes(self), sparse_sizes(other)) || self.dim() != other.dim())
    call.fail(fmt::format(
        "expects sparse inputs with equal dimensionality, number of sparse "
        "dimensions, and shape of sparse dimensions, but got {} with {} sparse "
        "dimensions and {} with {}",
        list_text(self.sizes()), sparse_dims(self), list_text(other.sizes()), sparse_dims(other)));
  const bool alike = parts_of(self).coalesced == parts_of(other).coalesced;
  const bool look_in_self =
      alike ? stored_entries(self) >= stored_entries(other) : parts_of(self).coalesced;
  const Tensor table = coalesced(look_in_self ? self : other);
  const Tensor source = look_in_self ? other : self;
  const Tensor& own = parts_of(source).values;
  const Matches matches = matching_values(table, parts_of(source).indices);
  const Tensor product = look_in_self ? call.functional({{"self", matches.values}, {"other", own}})
                                      : call.functional({{"self", own}, {"other", matches.values}});
  const Tensor all = with_values(source, zero_where_missing(product, matches.found));
  const bool both = alike && parts_of(self).coalesced;
  const bool zeros_stay = !both && dense_dims(source) == 0 && stored_entries(table) > 0;
  return zeros_stay ? all : entries_at(all, positions(matches.found));
}

// Of compressed tensors the entries that both have.
Tensor compressed_product(const SparseCall& call, const Tensor& self, const Tensor& other) {
  const Tensor a = coalesced(to_coo(self)), b = coalesced(to_coo(other));
  const Tensor product = coo_product(call, a, b);
  const Tensor& indices = parts_of(product).indices;
  const Tensor both =
      op("logical_and", find_entries(a, indices).found, find_entries(b, indices).found);
  return entries_at(product, positions(both));
}

Sizes broadcast_sizes(const SparseCall& call, Ints a, Ints b) {
  const size_t rank = std::max(a.size(), b.size());
  Sizes out(rank, 1);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t x = d + a.size() >= rank ? a[d + a.size() - rank] : 1;
    const int64_t y = d + b.size() >= rank ? b[d + b.size() - rank] : 1;
    if (x != y && x != 1 && y != 1)
      call.fail(
          fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at "
                      "non-singleton dimension {}",
                      x, y, d));
    out[d] = x == 1 ? y : x;
  }
  return out;
}

// What was in order before it was broadcast is so again.
Tensor in_order(const Tensor& coo, bool was) {
  return was ? coalesced(coo) : coo;
}

// The entries of the sparse factor, each times the strided one's element at its place.
Tensor mixed_product(const SparseCall& call, const Tensor& self, const Tensor& other) {
  const bool first = is_sparse(self);
  const Tensor strided = first ? other : self;
  Tensor coo = to_coo(first ? self : other);
  const Sizes sizes = broadcast_sizes(call, coo.sizes(), strided.sizes());
  if (!std::ranges::equal(coo.sizes(), sizes))
    coo = in_order(op("_sparse_broadcast_to", coo, IntList(sizes)), parts_of(coo).coalesced);
  Sizes padded(sizes.size() - static_cast<size_t>(strided.dim()), 1);
  padded = concat({padded, strided.sizes()});
  const Tensor taken = elements_at(op("reshape", strided, IntList(padded)), parts_of(coo).indices);
  const Tensor& own = parts_of(coo).values;
  return with_values(coo, first ? call.functional({{"self", own}, {"other", taken}})
                                : call.functional({{"self", taken}, {"other", own}}));
}

bool is_number_like(const Tensor& t) {
  return t.dim() == 0 && !is_sparse(t);
}

Tensor product_with_number(const SparseCall& call, const Tensor& self, const Tensor& other) {
  const bool first = is_sparse(self);
  const Tensor& sparse = first ? self : other;
  return with_values(sparse,
                     call.functional({{first ? "self" : "other", parts_of(sparse).values}}));
}

// As in ATen what is multiplied in place by a strided tensor has new parts, of whose order nothing
// is known.
Tensor of_unknown_order(const Tensor& coo) {
  const SparseParts& parts = parts_of(coo);
  return make_coo(op("clone", parts.indices), parts.values, coo.sizes(), false);
}

Tensor product_of(const SparseCall& call, const Tensor& self, const Tensor& other) {
  if (is_number_like(self) || is_number_like(other)) return product_with_number(call, self, other);
  if (is_sparse(other) && other.dim() == 0 && self.dim() > 0) {
    const Tensor values =
        call.functional({{"self", parts_of(self).values}, {"other", to_strided(other)}});
    return with_values(self, values);
  }
  if (is_coo(self) && is_coo(other)) return coo_product(call, self, other);
  if (is_sparse(self) && is_sparse(other)) return compressed_product(call, self, other);
  return mixed_product(call, self, other);
}

}  // namespace

std::vector<Tensor> sparse_functions::add_entries(SparseCall& call) {
  const Tensor self = call.tensor("self"), other = call.tensor("other");
  if (is_coo(self) && !is_sparse(other))
    call.fail("add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  if (!is_sparse(self)) return {strided_sum(call, self, other)};
  if (!is_sparse(other)) return {call.functional({{"self", to_strided(self)}, {"other", other}})};
  require_same_sizes(call, self, other);
  return {is_coo(self) && is_coo(other) ? coo_sum(call, self, other)
                                        : compressed_sum(call, self, other)};
}

std::vector<Tensor> sparse_functions::multiply_entries(SparseCall& call) {
  const Tensor self = call.tensor("self"), other = call.tensor("other");
  const Tensor product = product_of(call, self, other);
  if (call.in_place() && !is_sparse(self)) return {to_strided(product)};
  if (call.in_place() && is_coo(self) && !is_sparse(other)) return {of_unknown_order(product)};
  const Tensor& like = is_compressed(self) ? self : other;
  if (!is_compressed(like) || is_compressed(product) || is_coo(self)) return {product};
  return {coo_to_compressed(product, like.layout(), block_of(like))};
}

// By a number alone. Rounded quotients are not those of sums.
std::vector<Tensor> sparse_functions::divide_entries(SparseCall& call) {
  Tensor self = call.tensor("self");
  const Tensor other = call.tensor("other");
  const bool rounds = call.op().starts_with("floor") || call.has("rounding_mode");
  if (!is_number_like(other))
    call.fail(
        fmt::format("Sparse {}division requires a scalar or zero-dim dense tensor divisor "
                    "(got shape {} for divisor)",
                    call.op().starts_with("floor") ? "floor " : "", list_text(other.sizes())));
  if (!is_sparse(self))
    call.fail(fmt::format("expected self and result of one sparse layout, but self has layout {}",
                          layout_name(self.layout())));
  const bool merges = rounds && is_coo(self) && !parts_of(self).coalesced;
  if (call.in_place() && !merges) {
    call.again({{"self", parts_of(self).values}});
    return {self};
  }
  if (merges) self = coalesced(self);
  return {with_values(self, call.functional({{"self", parts_of(self).values}}))};
}

}  // namespace primset::runtime
