#include "decomps/engine/output_strides.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace primset::decomps {

SymInts strides_of_format(MemoryFormat format, const SymInts& sizes) {
  if (format == MemoryFormat::contiguous) return contiguous_strides(sizes);
  const size_t rank = format == MemoryFormat::channels_last ? 4 : 5;
  require(sizes.size() == rank, ErrorCode::runtime,
          fmt::format("required rank {} tensor to use channels_last{} format", rank,
                      rank == 4 ? "" : "_3d"));
  return channels_last_strides(sizes);
}

namespace {

using specs::Overload;

// The tensor of an argument that result `result` is made of: list arguments go element by element.
const TensorMeta* tensor_of(const Actual& a, size_t result) {
  if (auto* t = std::get_if<TensorMeta>(&a.value)) return t;
  if (auto* l = std::get_if<std::vector<TensorMeta>>(&a.value))
    return result < l->size() ? &(*l)[result] : nullptr;
  return nullptr;
}

SymInts elementwise(const Overload& o, const std::vector<Actual>& args, size_t result,
                    const SymInts& sizes) {
  std::vector<TensorMeta> operands;
  for (uint32_t i : o.broadcast) {
    if (const TensorMeta* t = tensor_of(args[i], result)) operands.push_back(*t);
  }
  // What was reduced has no layout to follow.
  for (const TensorMeta& t : operands) {
    if (t.sizes.size() > sizes.size()) return contiguous_strides(sizes);
  }
  for (uint32_t i : o.promote.args) {
    if (std::holds_alternative<Scalar>(args[i].value)) operands.push_back({});
  }
  return elementwise_strides(sizes, std::span<const TensorMeta>(operands));
}

// Of a matrix, or what becomes one, and the column and the row that are multiplied to be added to
// it.
SymInts outer(const std::vector<Actual>& args, const SymInts& sizes) {
  std::vector<TensorMeta> operands;
  for (size_t i = 0; i < 3; ++i) operands.push_back(std::get<TensorMeta>(args[i].value));
  TensorMeta& column = operands[1];
  column.sizes.push_back(1);
  column.strides.push_back(1);
  return elementwise_strides(sizes, std::span<const TensorMeta>(operands));
}

std::optional<MemoryFormat> format_argument(const std::vector<Actual>& args) {
  for (const Actual& a : args) {
    if (auto* f = std::get_if<MemoryFormat>(&a.value)) return *f;
  }
  return std::nullopt;
}

const TensorMeta* first_tensor(const std::vector<Actual>& args, size_t result) {
  for (const Actual& a : args) {
    if (const TensorMeta* t = tensor_of(a, result)) return t;
  }
  return nullptr;
}

// As empty_like: the memory_format argument, by default the first tensor's own layout.
SymInts preserve(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const MemoryFormat format = format_argument(args).value_or(MemoryFormat::preserve);
  if (format != MemoryFormat::preserve) return strides_of_format(format, sizes);
  const TensorMeta* t = first_tensor(args, result);
  return t && t->sizes.size() == sizes.size() ? preserved_strides(sizes, t->strides)
                                              : contiguous_strides(sizes);
}

// Whether each dim's steps are beyond the dims before it, from the channels outwards: as ATen's
// suggest_memory_format has it also those of dims of one element, which are none.
bool steps_outwards(const TensorMeta& t) {
  SymInt least = 0;
  std::vector<size_t> order{1};
  for (size_t d = t.sizes.size() - 1; d >= 2; --d) order.push_back(d);
  order.push_back(0);
  for (const size_t d : order) {
    if (t.strides[d] < least) return false;
    least = t.sizes[d] > SymInt(1) ? t.strides[d] * t.sizes[d] : t.strides[d];
  }
  return true;
}

// Channels-last when all tensors are and not contiguous as well, else contiguous.
SymInts suggested(const std::vector<Actual>& args, const SymInts& sizes) {
  bool channels_last = false;
  auto look = [&](const TensorMeta& t) {
    if (t.sizes.size() < 4) return true;
    channels_last = is_channels_last(t.sizes, t.strides) && !is_contiguous(t.sizes, t.strides) &&
                    steps_outwards(t);
    return channels_last;
  };
  for (const Actual& a : args) {
    if (auto* t = std::get_if<TensorMeta>(&a.value); t && !look(*t)) break;
    if (auto* l = std::get_if<std::vector<TensorMeta>>(&a.value))
      if (!std::all_of(l->begin(), l->end(), look)) break;
  }
  const bool fits = sizes.size() == 4 || sizes.size() == 5;
  return channels_last && fits ? channels_last_strides(sizes) : contiguous_strides(sizes);
}

// Of rows as of images of one row.
SymInts suggested_of_rows(const std::vector<Actual>& args, const SymInts& sizes) {
  TensorMeta image = std::get<TensorMeta>(args[0].value);
  if (image.sizes.size() != 3 || sizes.size() != 3) return contiguous_strides(sizes);
  image.strides.insert(image.strides.begin() + 2, image.sizes[2] * image.strides[2]);
  image.sizes.insert(image.sizes.begin() + 2, 1);
  SymInts strides = suggested({{image}}, {sizes[0], sizes[1], 1, sizes[2]});
  strides.erase(strides.begin() + 2);
  return strides;
}

// Channels-last when the tensor whose size the result has is: gradients have their own.
SymInts suggested_by_self(const Overload& o, const std::vector<Actual>& args,
                          const SymInts& sizes) {
  return suggested({args[static_cast<size_t>(o.find_arg("self"))]}, sizes);
}

// As suggested by volumes that are pooled to one element, else contiguous.
SymInts suggested_of_one(const std::vector<Actual>& args, const SymInts& sizes) {
  const bool one = sizes.size() == 5 && std::all_of(sizes.begin() + 2, sizes.end(), [](auto& s) {
                     return known_equal(s, 1) == true;
                   });
  return one ? suggested(args, sizes) : contiguous_strides(sizes);
}

// Channels-last when the first or the second tensor is, as backends of convolutions have it.
SymInts convolved(const std::vector<Actual>& args, const SymInts& sizes) {
  const bool fits = sizes.size() == 4 || sizes.size() == 5;
  size_t looked_at = 0;
  for (const Actual& a : args) {
    const auto* t = std::get_if<TensorMeta>(&a.value);
    if (!t || ++looked_at > 2) continue;
    if (fits && is_channels_last(t->sizes, t->strides) && !is_contiguous(t->sizes, t->strides))
      return channels_last_strides(sizes);
  }
  return contiguous_strides(sizes);
}

// As empty_like() of the argument called self, or input, has it, whose gradient the result is.
SymInts as_self(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int self = o.find_arg("self"), at = self < 0 ? o.find_arg("input") : self;
  const auto* t = std::get_if<TensorMeta>(&args[static_cast<size_t>(at)].value);
  if (!t || t->sizes.size() != sizes.size()) return contiguous_strides(sizes);
  return elementwise_strides(sizes, std::span<const TensorMeta>(t, 1));
}

// Channels-last when the argument called input is, as normalisations of batches have it.
SymInts as_input(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const auto* t = std::get_if<TensorMeta>(&args[static_cast<size_t>(o.find_arg("input"))].value);
  const bool fits = t && t->sizes.size() == sizes.size() && sizes.size() >= 4;
  return fits && is_channels_last(t->sizes, t->strides) && !is_contiguous(t->sizes, t->strides)
             ? channels_last_strides(sizes)
             : contiguous_strides(sizes);
}

// clone() that keeps gaps: the strides themselves, unless elements share memory.
SymInts cloned(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const TensorMeta* t = first_tensor(args, result);
  if (!t || t->sizes.size() != sizes.size()) return contiguous_strides(sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (known_equal(t->strides[d], 0) == true && known_equal(sizes[d], 1) != true)
      return preserved_strides(sizes, t->strides);
  }
  return t->strides;
}

SymInts first_argument(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const TensorMeta* t = first_tensor(args, result);
  if (!t) return contiguous_strides(sizes);
  return elementwise_strides(sizes, std::span<const TensorMeta>(t, 1));
}

// The gradient of a cell's state, the third result, as that of its new state, which comes first.
SymInts of_state(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  constexpr size_t kState = 2;
  return result == kState && sizes.size() == 2 ? first_argument(args, result, sizes)
                                               : contiguous_strides(sizes);
}

// As a clone of the argument whose new state the result is.
SymInts updated(const Overload& o, const std::vector<Actual>& args, size_t result,
                const SymInts& sizes) {
  for (const specs::Return& r : o.returns) {
    const int at = o.updated_arg(r);
    if (at < 0) break;
    const Actual& a = args[static_cast<size_t>(at)];
    const auto* list = std::get_if<std::vector<TensorMeta>>(&a.value);
    const size_t count = list ? list->size() : 1;
    if (result >= count) {
      result -= count;
      continue;
    }
    const TensorMeta* t = tensor_of(a, result);
    return t ? preserved_strides(sizes, t->strides) : contiguous_strides(sizes);
  }
  return contiguous_strides(sizes);
}

// empty_strided: the stride argument itself.
SymInts given(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int at = o.find_arg("stride");
  const auto* list = at < 0 ? nullptr : std::get_if<SymInts>(&args[static_cast<size_t>(at)].value);
  if (!list) return contiguous_strides(sizes);
  require(list->size() == sizes.size(), ErrorCode::runtime,
          fmt::format("dimensionality of sizes ({}) must match dimensionality of strides ({})",
                      sizes.size(), list->size()));
  return *list;
}

SymInts by_layout(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int at = o.find_arg("physical_layout");
  const auto* list = at < 0 ? nullptr : std::get_if<SymInts>(&args[static_cast<size_t>(at)].value);
  if (!list) return contiguous_strides(sizes);
  SymInts strides(sizes.size());
  std::vector<bool> seen(sizes.size());
  SymInt next = 1;
  for (size_t i = list->size(); i-- > 0;) {
    const int64_t d = (*list)[i].specialize();
    require(d >= 0 && d < static_cast<int64_t>(sizes.size()), ErrorCode::runtime,
            fmt::format("Dimension out of range (expected to be between 0 and {}, but got {} at "
                        "index {}).",
                        sizes.size() - 1, d, i));
    require(!seen[static_cast<size_t>(d)], ErrorCode::runtime, "Duplicate dim not allowed");
    seen[static_cast<size_t>(d)] = true;
    strides[static_cast<size_t>(d)] = next;
    next *= sizes[static_cast<size_t>(d)];
  }
  return strides;
}

// nonzero: its columns are vectors without gaps.
SymInts column_major(const SymInts& sizes) {
  return sizes.size() == 2 ? SymInts{1, sizes[0]} : contiguous_strides(sizes);
}

// Those of an array without gaps whose dims stand in this order, the outermost first.
SymInts strides_in_order(const SymInts& sizes, const std::vector<size_t>& order) {
  SymInts strides(sizes.size());
  SymInt next = 1;
  for (size_t i = order.size(); i-- > 0; next *= sizes[order[i]]) strides[order[i]] = next;
  return strides;
}

// unique_dim: slices along dim stand one behind the other.
SymInts sliced(const Overload& o, const std::vector<Actual>& args, size_t result,
               const SymInts& sizes) {
  const auto* dim = std::get_if<SymInt>(&args[static_cast<size_t>(o.find_arg("dim"))].value);
  if (result > 0 || !dim) return contiguous_strides(sizes);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto d = wrap_dim(dim->specialize(), static_cast<int64_t>(sizes.size()));
  std::rotate(order.begin(), order.begin() + d, order.begin() + d + 1);
  return strides_in_order(sizes, order);
}

// quantile: the answers of a vector of q stand side by side.
SymInts answers(const std::vector<Actual>& args, const SymInts& sizes) {
  const auto* q = std::get_if<TensorMeta>(&args[1].value);
  if (!q || q->sizes.size() != 1 || sizes.empty()) return contiguous_strides(sizes);
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1, order.end());
  return strides_in_order(sizes, order);
}

SymInts column_major_matrices(const SymInts& sizes) {
  SymInts strides = contiguous_strides(sizes);
  const size_t rank = sizes.size();
  if (rank < 2) return strides;
  strides[rank - 2] = 1;
  strides[rank - 1] = known_equal(sizes[rank - 2], 0) == true ? SymInt(1) : sizes[rank - 2];
  return strides;
}

// As LAPACK gives matrices of the first argument's rank, column-major; what else there is (pivots,
// determinants) is contiguous.
SymInts factor(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const TensorMeta* t = first_tensor(args, result);
  const bool matrix = t && sizes.size() >= t->sizes.size();
  return matrix ? column_major_matrices(sizes) : contiguous_strides(sizes);
}

// The same, but the solution X of X A = B is the transpose of a column-major one.
SymInts solution(const Overload& o, const std::vector<Actual>& args, size_t result,
                 const SymInts& sizes) {
  if (result > 0) return factor(args, result, sizes);
  const int at = o.find_arg("left");
  const bool* left = at < 0 ? nullptr : std::get_if<bool>(&args[static_cast<size_t>(at)].value);
  return left && !*left ? contiguous_strides(sizes) : column_major_matrices(sizes);
}

// A column-major matrix whose rows have become the dims before those of the argument that it is the
// inverse of, from `ind` on.
SymInts inverse_tensor(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int at = o.find_arg("ind");
  const auto* ind = at < 0 ? nullptr : std::get_if<SymInt>(&args[static_cast<size_t>(at)].value);
  const int64_t columns = ind ? ind->specialize() : 0;
  const auto rank = static_cast<int64_t>(sizes.size());
  if (columns <= 0 || columns >= rank) return contiguous_strides(sizes);
  const auto middle = sizes.begin() + (rank - columns);
  const SymInts rows(sizes.begin(), middle);
  SymInts strides = contiguous_strides(rows);
  const SymInt height = prims::product(rows);
  for (const SymInt& s : contiguous_strides(SymInts(middle, sizes.end())))
    strides.push_back(s * height);
  return strides;
}

// svd: U is column-major and V the transpose of such a matrix; zeros in their place are U in rows
// and the transpose of that.
SymInts singular_vectors(const Overload& o, const std::vector<Actual>& args, size_t result,
                         const SymInts& sizes) {
  const int at = o.find_arg("compute_uv");
  const bool* computed = at < 0 ? nullptr : std::get_if<bool>(&args[static_cast<size_t>(at)].value);
  const bool zeros = computed && !*computed;
  if (result == 1 || zeros == (result == 0)) return contiguous_strides(sizes);
  return column_major_matrices(sizes);
}

// linalg_lstsq: the solution's columns lie where LAPACK makes them, in columns as long as those of
// A and of the solution, whichever are longer. One column for each matrix is given as a row.
SymInts least_squares(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const auto* a = std::get_if<TensorMeta>(&args[0].value);
  const size_t rank = sizes.size();
  if (result > 0 || !a || a->sizes.size() < 2 || rank == 0) return contiguous_strides(sizes);
  const SymInts& of_a = a->sizes;
  const SymInt column = max(of_a[of_a.size() - 1], of_a[of_a.size() - 2]);
  SymInts stored = sizes;
  if (rank < of_a.size()) {
    stored.back() = column;
    return contiguous_strides(stored);
  }
  stored[rank - 2] = column;
  SymInts strides = contiguous_strides(stored);
  strides[rank - 2] = 1;
  strides[rank - 1] = column;
  return strides;
}

// A list of indices as index() sees it: which dims of the tensor they index, and with what strides.
struct IndexList {
  std::vector<size_t> dims;
  std::vector<SymInts> sizes, strides;  // a mask is its true elements: a vector of unknown size
};

IndexList index_list(const std::vector<std::optional<TensorMeta>>& indices) {
  IndexList out;
  size_t dim = 0;
  for (const auto& index : indices) {
    const bool mask = index && (is_bool(index->dtype) || index->dtype == DType::u8);
    const size_t covered = mask ? index->sizes.size() : 1;
    if (index) {
      for (size_t i = 0; i < covered; ++i) out.dims.push_back(dim + i);
      out.sizes.push_back(mask ? SymInts{2} : index->sizes);
      out.strides.push_back(mask ? SymInts{1} : index->strides);
    }
    dim += covered;
  }
  return out;
}

// TensorIterator's strides for the indexed tensor, which stands still along the joint dims of the
// indices, and the indices, which stand still elsewhere.
SymInts indexed(const std::vector<Actual>& args, const SymInts& sizes) {
  const auto* self = std::get_if<TensorMeta>(&args[0].value);
  const auto* list = std::get_if<std::vector<std::optional<TensorMeta>>>(&args[1].value);
  if (!self || !list) return contiguous_strides(sizes);
  const IndexList in = index_list(*list);
  if (in.dims.empty() || in.dims.size() > self->sizes.size()) return contiguous_strides(sizes);
  const size_t joint = sizes.size() + in.dims.size() - self->sizes.size();
  const bool neighbours = in.dims.back() - in.dims.front() + 1 == in.dims.size();
  const size_t at = neighbours ? in.dims.front() : 0;
  SymInts own;
  for (size_t d = 0; d < self->strides.size(); ++d) {
    if (std::find(in.dims.begin(), in.dims.end(), d) == in.dims.end())
      own.push_back(self->strides[d]);
  }
  own.insert(own.begin() + static_cast<std::ptrdiff_t>(at), joint, SymInt(0));
  std::vector<SymInts> operands = {own};
  for (size_t i = 0; i < in.strides.size(); ++i) {
    SymInts strides(sizes.size(), SymInt(0));
    const size_t rank = in.strides[i].size();
    for (size_t d = 0; d < rank; ++d) {
      if (known_equal(in.sizes[i][d], 1) != true) strides[at + joint - rank + d] = in.strides[i][d];
    }
    operands.push_back(std::move(strides));
  }
  return elementwise_strides(sizes, std::span<const SymInts>(operands));
}

// rot90: quarter turns are transposed copies of what flip preserves.
SymInts rotated(const std::vector<Actual>& args, size_t result, const SymInts& sizes) {
  const int64_t k = std::get<SymInt>(args[1].value).specialize() % 4;
  const TensorMeta* t = first_tensor(args, result);
  if (k == 0 || !t) return contiguous_strides(sizes);
  SymInts strides = preserved_strides(t->sizes, t->strides);
  if (k % 2 == 0) return strides;
  const SymInts& dims = std::get<SymInts>(args[2].value);
  const auto rank = static_cast<int64_t>(sizes.size());
  const auto a = static_cast<size_t>(wrap_dim(dims[0].specialize(), rank));
  const auto b = static_cast<size_t>(wrap_dim(dims[1].specialize(), rank));
  std::swap(strides[a], strides[b]);
  return strides;
}

// Sequences [batch, time, n] of batch_first lie in memory as the others do, time first.
SymInts time_major(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes) {
  const int at = o.find_arg("batch_first");
  const bool* batch_first = std::get_if<bool>(&args[static_cast<size_t>(at)].value);
  if (!batch_first || !*batch_first || sizes.size() != 3) return contiguous_strides(sizes);
  return {sizes[2], sizes[0] * sizes[2], SymInt(1)};
}

// The weight's gradient of _convolution_double_backward is convolved with its channels swapped.
SymInts channels_swapped(size_t result, SymInts sizes) {
  if (result != 2 || sizes.size() < 2) return contiguous_strides(sizes);
  std::swap(sizes[0], sizes[1]);
  SymInts strides = contiguous_strides(sizes);
  std::swap(strides[0], strides[1]);
  return strides;
}

// --- Fourier transforms: memory is left as the transforms write it, batch by batch ---

// A signal while it is transformed.
struct Signal {
  SymInts sizes, strides;
};

// Dims from the greatest stride to the least; those of equal strides stay in their order.
void sort_by_strides(std::vector<size_t>& dims, const SymInts& strides) {
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t j = i; j > 0 && strides[dims[j - 1]] < strides[dims[j]]; --j)
      std::swap(dims[j - 1], dims[j]);
  }
}

// After a transform over dims, which are the innermost then. The other dims, and of these the first
// `sorted` ones, stand in the order of the strides that they had.
void transform(Signal& x, const std::vector<size_t>& dims, size_t sorted, const SymInts& sizes) {
  std::vector<size_t> order,
      inner(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(sorted));
  for (size_t d = 0; d < x.strides.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  }
  sort_by_strides(order, x.strides);
  sort_by_strides(inner, x.strides);
  order.insert(order.end(), inner.begin(), inner.end());
  order.insert(order.end(), dims.begin() + static_cast<std::ptrdiff_t>(sorted), dims.end());
  x.sizes = sizes;
  x.strides = strides_in_order(sizes, order);
}

const SymInts* sizes_argument(const Overload& o, const std::vector<Actual>& args,
                              const char* name) {
  const int at = o.find_arg(name);
  return at < 0 ? nullptr : std::get_if<SymInts>(&args[static_cast<size_t>(at)].value);
}
const SymInt* size_argument(const Overload& o, const std::vector<Actual>& args, const char* name) {
  const int at = o.find_arg(name);
  return at < 0 ? nullptr : std::get_if<SymInt>(&args[static_cast<size_t>(at)].value);
}

// The dims that are transformed: those named, else as many of the last as there are lengths.
std::vector<size_t> transformed_dims(const Overload& o, const std::vector<Actual>& args,
                                     size_t rank) {
  std::vector<size_t> dims;
  const auto add = [&](const SymInt& d) {
    dims.push_back(static_cast<size_t>(wrap_dim(d.specialize(), static_cast<int64_t>(rank))));
  };
  const SymInts* lengths = sizes_argument(o, args, "s");
  if (const SymInt* dim = size_argument(o, args, "dim")) {
    add(*dim);
  } else if (const SymInts* list = sizes_argument(o, args, "dim")) {
    for (const SymInt& d : *list) add(d);
  } else {
    for (size_t d = lengths ? rank - lengths->size() : 0; d < rank; ++d) dims.push_back(d);
  }
  return dims;
}

// The signal as it is read: a copy where zeros are added, which is contiguous.
Signal signal_as_read(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes,
                      const std::vector<size_t>& dims, bool half) {
  const TensorMeta& self = std::get<TensorMeta>(args[0].value);
  Signal x{self.sizes, self.strides};
  const SymInts* lengths = sizes_argument(o, args, "s");
  const SymInt* length = size_argument(o, args, "n");
  bool padded = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    SymInt& size = x.sizes[dims[i]];
    if ((!lengths || (*lengths)[i] == SymInt(-1)) && !length) continue;
    SymInt wanted = length ? *length : (*lengths)[i];
    if (half && i + 1 == dims.size()) wanted = floor_div(sizes[dims[i]], 2) + 1;
    padded |= size < wanted;
    size = wanted;
  }
  if (padded) x.strides = contiguous_strides(x.sizes);
  return x;
}

// The last of dims is the one with half a spectrum, if any is.
enum class Order : uint8_t { all_at_once, last_inside, last_at_the_end, last_at_first };

SymInts transformed(const Overload& o, const std::vector<Actual>& args, const SymInts& sizes,
                    Order order) {
  const std::vector<size_t> dims = transformed_dims(o, args, sizes.size());
  Signal x = signal_as_read(o, args, sizes, dims, order == Order::last_at_the_end);
  if (dims.empty()) return preserved_strides(sizes, x.strides);
  const std::vector<size_t> rest(dims.begin(), dims.end() - 1), last = {dims.back()};
  if (order == Order::all_at_once) {
    transform(x, dims, dims.size(), sizes);
  } else if (order == Order::last_inside) {
    transform(x, dims, rest.size(), sizes);
  } else if (order == Order::last_at_the_end) {
    if (!rest.empty()) transform(x, rest, rest.size(), x.sizes);
    transform(x, last, 0, sizes);
  } else {
    transform(x, last, 0, sizes);
    if (!rest.empty()) transform(x, rest, rest.size(), sizes);
  }
  return x.strides;
}

// stft: spectra stand behind each other, and are seen as columns; parts are neighbours.
SymInts spectrogram(const std::vector<Actual>& args, const SymInts& sizes) {
  const size_t complex_rank = std::get<TensorMeta>(args[0].value).sizes.size() + 1;
  const SymInt parts = sizes.size() > complex_rank ? 2 : 1;
  SymInts strides = contiguous_strides(sizes);
  if (sizes.size() < complex_rank || complex_rank < 2) return strides;
  strides[complex_rank - 2] = parts;
  strides[complex_rank - 1] = parts * sizes[complex_rank - 2];
  return strides;
}

}  // namespace

SymInts output_strides(const Overload& o, const std::vector<Actual>& args, size_t result,
                       const SymInts& sizes) {
  switch (o.strides.kind) {
    case specs::StrideKind::elementwise:
      return elementwise(o, args, result, sizes);
    case specs::StrideKind::contiguous:
      return contiguous_strides(sizes);
    case specs::StrideKind::function:
      break;
  }
  const std::string& rule = o.strides.function;
  if (rule == "outer") return outer(args, sizes);
  if (rule == "rotated") return rotated(args, result, sizes);
  if (rule == "preserve") return preserve(args, result, sizes);
  if (rule == "updated") return updated(o, args, result, sizes);
  if (rule == "cloned") return cloned(args, result, sizes);
  if (rule == "suggested") return suggested(args, sizes);
  if (rule == "suggested_of_rows") return suggested_of_rows(args, sizes);
  if (rule == "suggested_of_one") return suggested_of_one(args, sizes);
  if (rule == "suggested_by_self") return suggested_by_self(o, args, sizes);
  if (rule == "convolved") return convolved(args, sizes);
  if (rule == "as_self") return as_self(o, args, sizes);
  if (rule == "as_input") return as_input(o, args, sizes);
  if (rule == "first_argument") return first_argument(args, result, sizes);
  if (rule == "of_state") return of_state(args, result, sizes);
  if (rule == "column_major") return column_major(sizes);
  if (rule == "sliced") return sliced(o, args, result, sizes);
  if (rule == "answers") return answers(args, sizes);
  if (rule == "column_major_matrices") return column_major_matrices(sizes);
  if (rule == "factor") return factor(args, result, sizes);
  if (rule == "singular_vectors") return singular_vectors(o, args, result, sizes);
  if (rule == "least_squares") return least_squares(args, result, sizes);
  if (rule == "solution") return solution(o, args, result, sizes);
  if (rule == "inverse_tensor") return inverse_tensor(o, args, sizes);
  if (rule == "spectrogram") return spectrogram(args, sizes);
  if (rule == "transformed") return transformed(o, args, sizes, Order::all_at_once);
  if (rule == "half_transformed") return transformed(o, args, sizes, Order::last_inside);
  if (rule == "transformed_in_turn") return transformed(o, args, sizes, Order::last_at_the_end);
  if (rule == "transformed_last_first") return transformed(o, args, sizes, Order::last_at_first);
  if (rule == "indexed") return indexed(args, sizes);
  if (rule == "time_major" && result == 0) return time_major(o, args, sizes);
  if (rule == "time_major") return contiguous_strides(sizes);
  if (rule == "channels_swapped") return channels_swapped(result, sizes);
  if (rule == "given") return given(o, args, sizes);
  if (rule == "physical_layout") return by_layout(o, args, sizes);
  if (rule == "memory_format") {
    const auto format = format_argument(args).value_or(MemoryFormat::contiguous);
    return strides_of_format(format, sizes);
  }
  fail(ErrorCode::internal,
       fmt::format("'{}' names the unknown stride rule '{}'", o.qualified, rule));
}

}  // namespace primset::decomps
