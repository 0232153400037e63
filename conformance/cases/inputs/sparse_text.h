// Tensors of sparse layouts in the texts of cases:
//
//   coo(T[3,4,2]{special}, dense=1, entries=5, repeated)
//   bsr(T[2,4,6]@strided, block=[2,3], index=i32)
//
// The layout's name, and in brackets the tensor that is meant: its dtype, sizes and, as of any
// tensor, how its values are filled and what memory its parts have. Then in any order:
//
//   entries=5     so many are stored, of each matrix of a batch; else half of all places are
//   dense=1       so many trailing dims are dense
//   block=[2,3]   of bsr and bsc: rows and columns of a block
//   index=i32     the dtype of a compressed layout's indices, else i64
//   repeated      of coo: entries in any order, a third of them a second time; not coalesced
//
// Where the entries lie is drawn at random. Dims before the last two of a compressed layout are a
// batch's. An entry that comes twice has the same value both times, so that their sum is exact.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_SPARSE_TEXT_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_SPARSE_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/inputs/host_tensor.h"
#include "conformance/cases/inputs/rng.h"
#include "conformance/cases/inputs/values.h"

namespace primset::conformance {

struct SparseText {
  Layout layout = Layout::sparse_coo;
  std::string tensor;  // "T[3,4]{special}@strided"
  std::optional<int64_t> entries;
  int64_t dense = 0;
  std::vector<int64_t> block = {};
  DType index = DType::i64;
  bool repeated = false;

  // Empty when the text names no sparse layout; throws Error{value} where it goes on wrongly.
  static std::optional<SparseText> parse(std::string_view text);
};

// "csr" and "sparse_csr" are both Layout::sparse_csr, "strided" is none of them. Throws
// Error{value}.
Layout read_sparse_layout(std::string_view text);

// What `tensor` of a text says, read.
struct FilledTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  Fill fill;
  LayoutKind memory = LayoutKind::contiguous;
};

// Draws where the entries lie, fills the values, and appends the parts to `storages`.
HostTensor place_sparse(std::vector<HostStorage>& storages, Rng& rng, const SparseText& text,
                        const FilledTensor& tensor);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_SPARSE_TEXT_H_
