// What the fake driver reads in PTX text: enough to hold a launch against the kernel's declaration.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_PTX_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_PTX_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace fake_cuda {

struct Entry {
  size_t param_bytes = 0;
  std::array<unsigned, 3> threads{};  // zeros: any
  bool waits_first = false;           // griddepcontrol.wait comes before memory is touched
};

bool is_ptx(const std::string& text);
// Empty when there is no such kernel.
std::optional<Entry> find_entry(const std::string& ptx, const std::string& name);

}  // namespace fake_cuda

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_PTX_H_
