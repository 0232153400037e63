// libFuzzer: arbitrary text as a file of expectations; what is taken is applied to a
// result.
#include <cstdint>
#include <string>

#include "conformance/runner/results/expectations.h"
#include "primset/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::conformance;
  try {
    const Expectations expectations = Expectations::parse(
        std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml", "2026-01-31");
    CaseResult result{"add.Tensor:dtype=f16;case=special", Verdict::of(Outcome::fail)};
    expectations.apply(result, "vulkan:0");
    expectations.complaints({"add.Tensor:dtype=f16;case=special"});
  } catch (const primset::Error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
