// Cooperative matrices of the interpreter: how lanes hold them is its own affair (kMatrixWords).
#include <array>
#include <bit>
#include <cstring>

#include "codegen/kernel/interpreter/group.h"

namespace primset::kir::interp {
namespace {

constexpr uint32_t kSide = 16;
constexpr uint32_t kStepBytes = 16;  // memory is touched so many bytes at a time
static_assert(kSide * kSide == kMatrixLanes * kMatrixWords);

using Elements = std::array<uint64_t, kSide * kSide>;  // bits, row after row

uint32_t bytes_of_element(const Code& c) {
  return c.op == Op::CooperativeStore || c.type == Scalar::f32 ? 4 : 2;
}

double number(Scalar s, uint64_t bits) {
  if (s == Scalar::f16) return half_to_double(bits);
  return bf16_to_double(bits);
}

}  // namespace

void GroupRunner::run_cooperative(uint32_t first, const Code& c) {
  if (c.op == Op::CooperativeMultiply) return multiply_cooperative(first, c);
  if (c.op == Op::CooperativeScale) return scale_cooperative(first, c);
  for (uint32_t lane = 1; lane < kMatrixLanes; ++lane)
    if (threads_[first + lane].registers[c.in[1]] != threads_[first].registers[c.in[1]])
      throw MemoryFault{"the lanes name different matrices"};
  if (c.op == Op::CooperativeLoad)
    load_cooperative(first, c);
  else
    store_cooperative(first, c);
}

// Where elements of a line lie, from `element` on, as many as a step has.
std::byte* GroupRunner::cooperative_step(uint32_t first, const Code& c, uint32_t line,
                                         uint32_t element, Access kind) {
  const Thread& t = threads_[first];
  const uint64_t* r = t.registers.data();
  const int64_t vec4 = sign_extend(r[c.in[1]], c.index_width) + int64_t{line} * c.imm_count;
  const int64_t at = kStepBytes * vec4 + int64_t{bytes_of_element(c)} * element;
  return touch_bytes(t, {r[c.in[0]], r[c.in[0] + 1]}, at, kStepBytes, kind);
}

void GroupRunner::load_cooperative(uint32_t first, const Code& c) {
  const uint32_t size = bytes_of_element(c), step = kStepBytes / size;
  for (uint32_t line = 0; line < kSide; ++line) {
    for (uint32_t begin = 0; begin < kSide; begin += step) {
      const std::byte* from = cooperative_step(first, c, line, begin, Access::read);
      for (uint32_t i = 0; i < step; ++i) {
        uint32_t bits = 0;  // the low bytes come first
        std::memcpy(&bits, from + size_t{size} * i, size);
        const uint32_t place = begin + i;
        const uint32_t at = c.imm == 1 ? place * kSide + line : line * kSide + place;
        threads_[first + at / kMatrixWords].registers[c.out + at % kMatrixWords] = bits;
      }
    }
  }
}

void GroupRunner::store_cooperative(uint32_t first, const Code& c) {
  constexpr uint32_t kStep = kStepBytes / sizeof(uint32_t);
  for (uint32_t line = 0; line < kSide; ++line) {
    for (uint32_t begin = 0; begin < kSide; begin += kStep) {
      std::byte* to = cooperative_step(first, c, line, begin, Access::write);
      for (uint32_t i = 0; i < kStep; ++i) {
        const uint32_t at = line * kSide + begin + i;
        const auto bits = static_cast<uint32_t>(
            threads_[first + at / kMatrixWords].registers[c.in[2] + at % kMatrixWords]);
        std::memcpy(to + sizeof(bits) * i, &bits, sizeof(bits));
      }
    }
  }
}

void GroupRunner::multiply_cooperative(uint32_t first, const Code& c) {
  const auto elements = [&](size_t operand) {
    Elements out;
    for (uint32_t i = 0; i < out.size(); ++i)
      out[i] = threads_[first + i / kMatrixWords].registers[c.in[operand] + i % kMatrixWords];
    return out;
  };
  const Elements left = elements(0), right = elements(1), sums = elements(2);
  for (uint32_t row = 0; row < kSide; ++row) {
    for (uint32_t column = 0; column < kSide; ++column) {
      const uint32_t at = row * kSide + column;
      double sum = std::bit_cast<float>(static_cast<uint32_t>(sums[at]));
      for (uint32_t k = 0; k < kSide; ++k)
        sum += number(c.type, left[row * kSide + k]) * number(c.type, right[k * kSide + column]);
      threads_[first + at / kMatrixWords].registers[c.out + at % kMatrixWords] =
          std::bit_cast<uint32_t>(static_cast<float>(sum));
    }
  }
}

void GroupRunner::scale_cooperative(uint32_t first, const Code& c) {
  const auto number_of = [](uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  };
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
    auto& r = threads_[first + lane].registers;
    for (uint32_t i = 0; i < kMatrixWords; ++i)
      r[c.out + i] = std::bit_cast<uint32_t>(number_of(r[c.in[0] + i]) * number_of(r[c.in[1] + i]));
  }
}

}  // namespace primset::kir::interp
