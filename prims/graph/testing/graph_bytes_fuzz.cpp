// libFuzzer: arbitrary bytes as a serialised graph, first through the C reader that plugins use,
// then into a graph, which verifies and gives the same bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "prims/graph/serialize.h"
#include "prims/graph/text.h"
#include "primset/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::prims;
  // A vector of its own, so that a read behind the end is seen.
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(first, first + size);
  std::vector<std::byte> written;
  try {
    const Graph graph = deserialize(bytes);
    print(graph);
    written = serialize(graph);
  } catch (const primset::Error&) {
    return 0;
  }
  if (serialize(deserialize(written)) != written) std::abort();
  return 0;
}
