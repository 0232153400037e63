// libFuzzer: arbitrary text as a primitive graph. What parses and verifies is printed and
// serialised, and both give the same graph again.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "prims/graph/serialize.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"
#include "primset/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::prims;
  std::optional<Graph> graph;
  try {
    graph = parse({reinterpret_cast<const char*>(data), size});
    print(*graph);
    if (!verify(*graph).empty()) return 0;
  } catch (const primset::Error&) {
    return 0;  // refused: that is the contract
  }
  const std::string text = print(*graph);
  if (print(parse(text)) != text) std::abort();
  const std::vector<std::byte> bytes = serialize(*graph);
  if (serialize(deserialize(bytes)) != bytes) std::abort();
  return 0;
}
