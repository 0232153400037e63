// ATen's Layout and MemoryFormat, with ATen's codes.
#ifndef PRIMSET_FORMATS_H_
#define PRIMSET_FORMATS_H_

#include <cstdint>
#include <string_view>

namespace primset {

enum class Layout : uint8_t {
  strided = 0,
  sparse_coo = 1,
  sparse_csr = 2,
  sparse_csc = 4,
  sparse_bsr = 5,
  sparse_bsc = 6,
};

// Their names, as PyTorch spells them: "sparse_csr".
struct LayoutName {
  Layout layout;
  std::string_view name;
};
inline constexpr LayoutName kLayoutNames[] = {
    {Layout::strided, "strided"},       {Layout::sparse_coo, "sparse_coo"},
    {Layout::sparse_csr, "sparse_csr"}, {Layout::sparse_csc, "sparse_csc"},
    {Layout::sparse_bsr, "sparse_bsr"}, {Layout::sparse_bsc, "sparse_bsc"}};

constexpr std::string_view layout_name(Layout layout) {
  for (const LayoutName& l : kLayoutNames) {
    if (l.layout == layout) return l.name;
  }
  return "?";
}
// Are rows compressed (CSR, BSR), or columns (CSC, BSC)?
constexpr bool compresses_rows(Layout layout) {
  return layout == Layout::sparse_csr || layout == Layout::sparse_bsr;
}
constexpr bool has_blocks(Layout layout) {
  return layout == Layout::sparse_bsr || layout == Layout::sparse_bsc;
}

enum class MemoryFormat : uint8_t {
  contiguous = 0,
  preserve = 1,
  channels_last = 2,
  channels_last_3d = 3,
};

}  // namespace primset

#endif  // PRIMSET_FORMATS_H_
