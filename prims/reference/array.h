// Indices into dense row-major arrays.
#ifndef PRIMSET_PRIMS_REFERENCE_ARRAY_H_
#define PRIMSET_PRIMS_REFERENCE_ARRAY_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "prims/reference/reference.h"

namespace primset::prims::reference {

using Ints = std::vector<int64_t>;

int64_t element_count(const Ints& shape);
Ints row_major_strides(const Ints& shape);
int64_t offset_of(const Ints& index, const Ints& shape);
bool contains(const Ints& dims, int64_t dim);
Ints without(const Ints& shape, const Ints& dims);

// Every index of `shape` in row-major order, with its offset.
void for_each_index(const Ints& shape, const std::function<void(const Ints& index, size_t at)>& f);

// For each index of the dims not in `dims`, in row-major order: the offsets of the elements that
// differ in `dims` only, in row-major order. `group` counts up.
void for_each_group(const Ints& shape, const Ints& dims,
                    const std::function<void(size_t group, const std::vector<size_t>& at)>& f);

Array make_array(DType dtype, Ints shape);  // zeros

// result[i] = x[source(i)], of an empty source the number `otherwise`.
using Source = std::function<bool(const Ints& index, Ints& source)>;
void rearrange(const Array& x, Array& result, const Source& source, const Element& otherwise = {});

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_ARRAY_H_
