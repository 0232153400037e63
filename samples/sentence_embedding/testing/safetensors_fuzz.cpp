// libFuzzer: arbitrary bytes as the header and the data of a .safetensors file. The eight bytes of
// the header's length are made right: the header ends at the first zero byte. Every byte of a
// tensor that is taken can be read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* header_end = std::find(data, data + size, 0);
  const auto length = static_cast<uint64_t>(header_end - data);
  std::vector<std::byte> file;
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<std::byte>(length >> (8 * i)));
  for (const uint8_t* p = data; p != data + size; ++p)
    if (p != header_end) file.push_back(static_cast<std::byte>(*p));
  try {
    size_t bytes = 0, zeros = 0;
    for (const auto& [name, tensor] : sentence_embedding::parse_safetensors(file)) {
      bytes += tensor.data.size();
      for (const std::byte b : tensor.data) zeros += b == std::byte{0};
    }
    // They fill the data section.
    if (bytes != file.size() - 8 - length || zeros > bytes) std::abort();
  } catch (const std::runtime_error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
