// libFuzzer: arbitrary bytes as an .npy file. Magic, version and the header's length are made
// right: the header ends at the first zero byte.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "primset/error.h"
#include "sdk/cli/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset;
  const uint8_t* header_end = std::find(data, data + size, 0);
  const auto length = static_cast<size_t>(header_end - data);
  std::string file("\x93NUMPY\x02\x00", 8);
  for (int i = 0; i < 4; ++i) file += static_cast<char>(length >> (8 * i));
  file.append(data, header_end);
  if (header_end != data + size) file.append(header_end + 1, data + size);
  try {
    const cli::NpyArray array = cli::parse_npy(std::as_bytes(std::span(file)), "fuzz.npy");
    // Its shape is that of the data, and any product of sizes fits.
    uint64_t bytes = byte_size(array.dtype);
    for (const int64_t n : array.shape) bytes *= static_cast<uint64_t>(n);
    if (bytes != array.data.size()) std::abort();
  } catch (const Error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
