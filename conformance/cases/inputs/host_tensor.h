// Tensors as bytes on the host: what a case feeds to a device, and what it looks at afterwards.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_HOST_TENSOR_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_HOST_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prims/reference/reference.h"
#include "primset/dtype.h"
#include "primset/formats.h"

namespace primset::conformance {

using prims::reference::Array;
using prims::reference::Element;

// Memory before and behind every tensor, and the gaps that its strides leave, hold a pattern that
// is no plausible result. A device that changes a byte of it has written out of bounds.
inline constexpr size_t kGuardBytes = 256;
constexpr std::byte poison(size_t at) {
  return static_cast<std::byte>(0xa5 ^ (at * 7 & 0x1f));
}

// One storage; tensors of a case may share it.
using HostStorage = std::vector<std::byte>;

// A tensor seen on a storage. Strides and offset count elements; the offset counts from the
// storage's first byte, guard included.
struct HostTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  uint32_t storage = 0;
  bool conj = false, neg = false;
  bool wrapped_number = false;  // a Scalar passed where a tensor is expected; rank 0
  // Of a sparse layout the tensor is its parts, and has no place in a storage itself: indices and
  // values of COO; compressed indices, plain ones and values of the others.
  Layout layout = Layout::strided;
  std::vector<HostTensor> parts = {};
  bool coalesced = false;

  bool is_sparse() const { return layout != Layout::strided; }
  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

// The bytes of storage that reach beyond the tensor's last element, 0 of an empty tensor at the
// storage's begin; empty where an element lies before it, or beyond what 63 bits count.
std::optional<size_t> bytes_needed(const HostTensor& t);
bool lies_within(const HostTensor& t, size_t bytes);

// How a case lays its tensors out.
enum class LayoutKind : uint8_t {
  contiguous,
  transposed,     // dims in reverse order in memory
  strided,        // gaps between all elements
  padded,         // gaps between rows
  offset,         // contiguous, from an element that is not aligned to more than its dtype
  expanded,       // stride 0 along the first dim longer than 1; its values are equal
  channels_last,  // dim 1 innermost; for ranks below 3 as transposed
};
inline constexpr std::array<std::string_view, 7> kLayoutNames = {
    "contiguous", "transposed", "strided", "padded", "offset", "expanded", "channels_last"};
// Throws Error{value}.
LayoutKind layout_from_name(std::string_view name);

std::vector<int64_t> strides_for(LayoutKind layout, const std::vector<int64_t>& sizes);

// Lays the values out in a new storage with guards, poison in the gaps; appends it to `storages`.
// With `expanded` values along the expanded dim are those at its index 0.
HostTensor place(std::vector<HostStorage>& storages, const Array& values, LayoutKind layout);
// The same at given strides, which reach no element below the first.
HostTensor place(std::vector<HostStorage>& storages, const Array& values,
                 std::vector<int64_t> strides, int64_t offset);

// The tensor's values, conjugation and negation applied, in row-major order.
Array read(const std::vector<HostStorage>& storages, const HostTensor& t);

// Which bytes of its storage belong to the tensor's elements: one flag a byte.
void mark_bytes(const HostTensor& t, std::vector<bool>& flags);

// The packed row-major bytes of a tensor, as memory has them (no conjugation). Throws
// Error{runtime} when it does not lie within its storage.
std::vector<std::byte> packed_bytes(const HostStorage& storage, const HostTensor& t);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_HOST_TENSOR_H_
