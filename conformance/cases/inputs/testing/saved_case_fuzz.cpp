// libFuzzer: arbitrary text as a saved case. What is read is written and read again, and held
// against its operator or primitive, as `primset conform --replay` does before it runs it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "conformance/cases/inputs/check_case.h"
#include "conformance/cases/inputs/serialize.h"
#include "primset/error.h"
#include "specs/bundle/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::conformance;
  SavedCase saved;
  try {
    saved = saved_case_from_json({reinterpret_cast<const char*>(data), size});
  } catch (const primset::Error&) {
    return 0;
  }
  const std::string written = to_json_line(saved);
  if (to_json_line(saved_case_from_json(written)) != written) std::abort();
  try {
    check_case(primset::specs::embedded_bundle(), saved.test);
  } catch (const primset::Error&) {
    // It does not fit its operator.
  }
  return 0;
}
