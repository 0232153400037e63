// Writes out of bounds, found by red zones as AddressSanitizer does: storages hold poison wherever
// no element lies, and after a run every byte must be as it was, but for those of tensors that the
// call writes.
#ifndef PRIMSET_CONFORMANCE_COMPARE_RED_ZONE_H_
#define PRIMSET_CONFORMANCE_COMPARE_RED_ZONE_H_

#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/inputs/host_tensor.h"

namespace primset::conformance {

// The first byte that changed though no tensor of `written` covers it, described for people:
// whether it lies before the first element, behind the last, in a gap, or in a tensor that is only
// read. `after` has one entry a storage; an empty one was not looked at.
std::optional<std::string> find_out_of_bounds_write(const std::vector<HostStorage>& before,
                                                    const std::vector<HostStorage>& after,
                                                    const std::vector<HostTensor>& tensors,
                                                    const std::vector<HostTensor>& written);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_COMPARE_RED_ZONE_H_
