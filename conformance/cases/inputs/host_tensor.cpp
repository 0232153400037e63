#include "conformance/cases/inputs/host_tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "prims/reference/array.h"
#include "prims/reference/float_format.h"
#include "primset/error.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;

// Strides for dims placed from the outermost to the innermost in `order`; the innermost step is
// `step`, and `gap` elements follow each row.
Ints strides_in_order(const Ints& sizes, const Ints& order, int64_t step, int64_t gap) {
  Ints strides(sizes.size(), step);
  int64_t next = step;
  for (size_t i = order.size(); i-- > 0;) {
    auto d = static_cast<size_t>(order[i]);
    strides[d] = next;
    next = next * std::max<int64_t>(sizes[d], 1) + (i + 1 == order.size() ? gap : 0);
  }
  return strides;
}

Ints forward(size_t rank) {
  Ints order(rank);
  for (size_t d = 0; d < rank; ++d) order[d] = static_cast<int64_t>(d);
  return order;
}

Ints backward(size_t rank) {
  Ints order = forward(rank);
  std::reverse(order.begin(), order.end());
  return order;
}

// N, spatial dims, C.
Ints channels_last_order(size_t rank) {
  if (rank < 3) return backward(rank);
  Ints order = forward(rank);
  order.erase(order.begin() + 1);
  order.push_back(1);
  return order;
}

size_t expanded_dim(const Ints& sizes) {
  auto it = std::find_if(sizes.begin(), sizes.end(), [](int64_t s) { return s > 1; });
  return static_cast<size_t>(it - sizes.begin());
}

int64_t element_offset(const HostTensor& t, const Ints& index) {
  int64_t at = t.offset;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * t.strides[d];
  return at;
}

}  // namespace

std::optional<size_t> bytes_needed(const HostTensor& t) {
  // A product of 64 bits is exact in 128, and a sum that leaves 64 bits is noticed before the next.
  __extension__ using Wide = __int128;
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  const bool empty = std::ranges::find(t.sizes, 0) != t.sizes.end();
  Wide first = t.offset, end = Wide{t.offset} + (empty ? 0 : 1);
  for (size_t d = 0; d < t.sizes.size() && !empty; ++d) {
    const Wide reach = (static_cast<Wide>(t.sizes[d]) - 1) * t.strides[d];
    (reach < 0 ? first : end) += reach;
    if (first < 0 || end > kMost) return std::nullopt;
  }
  const Wide bytes = end * static_cast<Wide>(byte_size(t.dtype));
  if (first < 0 || bytes > kMost) return std::nullopt;
  return static_cast<size_t>(bytes);
}

bool lies_within(const HostTensor& t, size_t bytes) {
  const std::optional<size_t> needed = bytes_needed(t);
  return needed && *needed <= bytes;
}

LayoutKind layout_from_name(std::string_view name) {
  auto it = std::find(kLayoutNames.begin(), kLayoutNames.end(), name);
  if (it == kLayoutNames.end()) {
    throw Error(ErrorCode::value, "'" + std::string(name) + "' is not a layout");
  }
  return static_cast<LayoutKind>(it - kLayoutNames.begin());
}

Ints strides_for(LayoutKind layout, const Ints& sizes) {
  size_t rank = sizes.size();
  switch (layout) {
    case LayoutKind::transposed:
      return strides_in_order(sizes, backward(rank), 1, 0);
    case LayoutKind::strided:
      return strides_in_order(sizes, forward(rank), 2, 0);
    case LayoutKind::padded:
      return strides_in_order(sizes, forward(rank), 1, 5);
    case LayoutKind::channels_last:
      return strides_in_order(sizes, channels_last_order(rank), 1, 0);
    case LayoutKind::expanded: {
      size_t dim = expanded_dim(sizes);
      Ints dense = sizes;
      if (dim < rank) dense[dim] = 1;
      Ints strides = strides_in_order(dense, forward(rank), 1, 0);
      if (dim < rank) strides[dim] = 0;
      return strides;
    }
    default:
      return strides_in_order(sizes, forward(rank), 1, 0);
  }
}

HostTensor place(std::vector<HostStorage>& storages, const Array& values, Ints strides,
                 int64_t offset) {
  size_t size = byte_size(values.dtype);
  HostTensor t{values.dtype, values.shape, std::move(strides), 0,
               static_cast<uint32_t>(storages.size())};
  t.offset = static_cast<int64_t>(kGuardBytes / size) + offset;
  int64_t last = t.offset;
  bool empty = values.data.empty();
  for (size_t d = 0; d < t.sizes.size() && !empty; ++d) last += (t.sizes[d] - 1) * t.strides[d];
  HostStorage storage((static_cast<size_t>(last) + (empty ? 0 : 1)) * size + kGuardBytes);
  for (size_t i = 0; i < storage.size(); ++i) storage[i] = poison(i);
  std::vector<std::byte> bytes = ref::to_bytes(values);
  ref::for_each_index(t.sizes, [&](const Ints& index, size_t at) {
    size_t target = static_cast<size_t>(element_offset(t, index)) * size;
    std::memcpy(storage.data() + target, bytes.data() + at * size, size);
  });
  storages.push_back(std::move(storage));
  return t;
}

HostTensor place(std::vector<HostStorage>& storages, const Array& values, LayoutKind layout) {
  Ints strides = strides_for(layout, values.shape);
  if (layout != LayoutKind::expanded) {
    return place(storages, values, std::move(strides), layout == LayoutKind::offset ? 3 : 0);
  }
  Array equal = values;
  size_t dim = expanded_dim(values.shape);
  ref::for_each_index(values.shape, [&](const Ints& index, size_t at) {
    if (dim >= index.size()) return;
    Ints first = index;
    first[dim] = 0;
    equal.data[at] = values.data[static_cast<size_t>(ref::offset_of(first, values.shape))];
  });
  return place(storages, equal, std::move(strides), 0);
}

std::vector<std::byte> packed_bytes(const HostStorage& storage, const HostTensor& t) {
  if (!lies_within(t, storage.size())) {
    throw Error(ErrorCode::runtime, "a tensor reaches beyond its storage of " +
                                        std::to_string(storage.size()) + " bytes");
  }
  size_t size = byte_size(t.dtype);
  std::vector<std::byte> bytes(static_cast<size_t>(ref::element_count(t.sizes)) * size);
  ref::for_each_index(t.sizes, [&](const Ints& index, size_t at) {
    size_t source = static_cast<size_t>(element_offset(t, index)) * size;
    std::memcpy(bytes.data() + at * size, storage.data() + source, size);
  });
  return bytes;
}

Array read(const std::vector<HostStorage>& storages, const HostTensor& t) {
  Array a = ref::from_bytes(t.dtype, t.sizes, packed_bytes(storages.at(t.storage), t));
  for (Element& e : a.data) {
    if (t.conj) e.im = -e.im;
    if (t.neg) {
      e.re = -e.re;
      e.im = -e.im;
      e.integer = ref::wrap(static_cast<int64_t>(-static_cast<uint64_t>(e.integer)), t.dtype);
    }
  }
  return a;
}

void mark_bytes(const HostTensor& t, std::vector<bool>& flags) {
  size_t size = byte_size(t.dtype);
  ref::for_each_index(t.sizes, [&](const Ints& index, size_t) {
    size_t at = static_cast<size_t>(element_offset(t, index)) * size;
    for (size_t i = 0; i < size && at + i < flags.size(); ++i) flags[at + i] = true;
  });
}

}  // namespace primset::conformance
