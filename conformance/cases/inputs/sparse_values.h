// Tensors of sparse layouts on the host: what their parts say, and the dense tensor that they mean.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_SPARSE_VALUES_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_SPARSE_VALUES_H_

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/inputs/host_tensor.h"

namespace primset::conformance {

struct SparseValues {
  Layout layout = Layout::sparse_coo;
  std::vector<int64_t> sizes;
  std::vector<Array> parts;  // as HostTensor::parts
  bool coalesced = false;

  const Array& values() const { return parts.back(); }
  int64_t entries() const;     // stored; of compressed layouts in one matrix of a batch
  int64_t dense_dims() const;  // trailing dims of the values
};

SparseValues read_sparse(const std::vector<HostStorage>& storages, const HostTensor& t);

// How the parts do not fit each other or the sizes, be it in rank, size or an index that they hold;
// empty where they make a tensor.
std::string pattern_mistake(const SparseValues& t);

// Where nothing is stored: zeros, or what a dtype without a zero has for them.
Array nothing_stored(DType dtype, const std::vector<int64_t>& sizes);
// The elements of a tensor whose parts fit. Entries at one place are added.
Array made_dense(const SparseValues& t);
// Of a tensor of any layout.
Array dense_values(const std::vector<HostStorage>& storages, const HostTensor& t);
// The same tensor with 1 at every element that is stored, and 0 elsewhere, as i64.
Array stored_elements(const SparseValues& t);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_SPARSE_VALUES_H_
