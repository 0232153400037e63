// libFuzzer: the bundle reader on arbitrary bytes. The envelope is made right first, since a random
// checksum would hide everything behind it.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "primset/error.h"
#include "specs/bundle/archive.h"
#include "specs/bundle/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::specs;
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  std::string file(archive::kMagic);
  auto append = [&file](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> (8 * i)));
  };
  append(archive::kVersion, 4);
  append(payload.size(), 8);
  append(fnv1a(payload), 8);
  file += payload;
  try {
    const Bundle bundle = read_bundle(std::as_bytes(std::span(file)));
    // What was accepted must be safe to use.
    for (const Overload& o : bundle.overloads) {
      bundle.computed_by(o);
      print(o.implementation.formula);
      print_schema(o.qualified, o.args, o.returns);
    }
    for (const Primitive& p : bundle.primitives) print(p.decomposition.formula);
  } catch (const primset::Error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
