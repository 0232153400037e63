// What the functions on sparse tensors share: dims and sizes, and entries of COO tensors chosen or
// looked up by their indices.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_ENTRIES_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_ENTRIES_H_

#include <initializer_list>

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

// --- sizes ---------------------------------------------------------------------------------------

Sizes concat(std::initializer_list<Ints> lists);
int64_t product(Ints sizes);
// From `first` on, `count` numbers.
Sizes counting(int64_t first, int64_t count);
inline Sizes sizes_of(const Tensor& t) {
  return {t.sizes().begin(), t.sizes().end()};
}
Ints sparse_sizes(const Tensor& coo);
Ints dense_sizes(const Tensor& coo);
// The dim, a negative one counted from the end. Throws Error{index} in ATen's words.
int64_t wrapped_dim(int64_t dim, int64_t rank);
// self, which must be of layout sparse_coo.
Tensor coo_self(const SparseCall& call);
// ATen's word for the layout in messages: "SparseCsr".
std::string_view torch_layout(const Tensor& t);

// --- entries of a COO tensor ---------------------------------------------------------------------

// [nnz]: the indices along one sparse dim.
Tensor indices_along(const Tensor& coo, int64_t dim);
// The entries at the positions that `at` lists, which ascend where the tensor stays coalesced.
Tensor entries_at(const Tensor& coo, const Tensor& at, bool ascending = true);
// Positions of the entries where a bool [nnz] holds. Their number is read from the device.
Tensor positions(const Tensor& mask);
// The indices without one dim, or with zeros as another.
Tensor without_row(const Tensor& indices, int64_t dim);
Tensor with_zero_row(const Tensor& indices, int64_t dim);

// Where the entries at `indices` stand in a coalesced tensor: `at` [n], a number in range, and
// whether there is such an entry.
struct Lookup {
  Tensor at, found;
};
Lookup find_entries(const Tensor& coalesced, const Tensor& indices);
// Some entry's value where there is none at the place wanted.
struct Matches {
  Tensor values, found;
};
Matches matching_values(const Tensor& coalesced, const Tensor& indices);
Tensor zero_where_missing(const Tensor& values, const Tensor& found);
// The values of a coalesced tensor at these indices, zero where it has none.
Tensor values_at(const Tensor& coalesced, const Tensor& indices);
// [n, dense dims...]: the elements of a strided tensor at these indices of its leading dims. Along
// dims of size 1 any index will do.
Tensor elements_at(const Tensor& strided, const Tensor& indices);

// A number [nnz] or truth as a factor of values: with a dim of size 1 for each dense dim.
Tensor beside_values(const Tensor& t, const Tensor& values);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_ENTRIES_H_
