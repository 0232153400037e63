// The packed numbers as bytes in the binary's read-only data: the assembler copies the file in.
#include "decomps/operators/random/direction_numbers.h"

#include <cstddef>

__asm__(
    ".pushsection .rodata.primset_direction_numbers, \"a\", @progbits\n"
    ".hidden primset_direction_numbers\n"
    ".globl primset_direction_numbers\n"
    "primset_direction_numbers:\n"
    ".incbin \"" PRIMSET_DIRECTION_NUMBERS_FILE
    "\"\n"
    ".popsection\n");

extern "C" {
extern const uint8_t primset_direction_numbers[];
}

namespace primset::decomps {
namespace {

// The lowest bit of a byte comes first.
class BitReader {
 public:
  explicit BitReader(const uint8_t* bytes) : bytes_(bytes) {}

  uint32_t read(uint32_t width) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < width; ++i, ++place_)
      value |= ((bytes_[place_ / 8] >> (place_ % 8)) & 1u) << i;
    return value;
  }

 private:
  const uint8_t* bytes_;
  size_t place_ = 0;
};

}  // namespace

std::vector<SobolBeginning> sobol_beginnings(int64_t dims) {
  BitReader bits(primset_direction_numbers);
  std::vector<SobolBeginning> out;
  for (int64_t d = 2; d <= dims; ++d) {
    SobolBeginning b;
    const uint32_t degree = bits.read(5);
    b.polynomial = bits.read(degree - 1);
    b.numbers.push_back(1);
    for (uint32_t i = 2; i <= degree; ++i) b.numbers.push_back(bits.read(i - 1) * 2 + 1);
    out.push_back(std::move(b));
  }
  return out;
}

}  // namespace primset::decomps
