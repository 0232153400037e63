// Asynchronous copies and matrices of the interpreter.
#include <bit>
#include <cstring>

#include "codegen/kernel/interpreter_group.h"

namespace primset::kir::interp {
namespace {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kRowBytes = 16;  // of an 8 x 8 matrix of 16-bit elements

// The element `half` of a word of two.
uint64_t half_of(uint64_t word, uint32_t half) {
  return word >> 16 * half & 0xffff;
}

double number(Op op, uint64_t bits) {
  if (op == Op::MatrixMultiplyF16) return half_to_double(bits);
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace

// --- asynchronous copies -------------------------------------------------------------------------

std::byte* GroupRunner::touch_bytes(const Thread& t, Pointer p, int64_t offset, uint32_t bytes,
                                    Access kind) {
  return memory_.access(p, static_cast<uint64_t>(offset), bytes, bytes, kind,
                        {group_number_, t.number, epoch_});
}

// What is copied to is written at any time until the thread has waited: it holds nothing that makes
// sense from the start on, and what it is to hold only after the wait.
void GroupRunner::async_copy(Thread& t, const Code& c) {
  const uint64_t* r = t.registers.data();
  const auto pointer = [&](size_t operand) {
    return Pointer{r[c.in[operand]], r[c.in[operand] + 1]};
  };
  if (c.op == Op::CopyCommit) {
    t.batches.push_back(std::move(t.started));
    t.started.clear();
  } else if (c.op == Op::CopyWait) {
    for (; t.batches.size() > c.imm; t.batches.pop_front()) {
      for (const PendingCopy& copy : t.batches.front()) finish_copy(t, copy);
    }
  } else {
    const int64_t element = bytes(c.type);
    const PendingCopy copy{pointer(0),
                           pointer(2),
                           sign_extend(r[c.in[1]], c.index_width) * element,
                           sign_extend(r[c.in[3]], static_cast<int>(c.imm_count)) * element,
                           c.imm,
                           r[c.in[4]] != 0};
    if (copy.keep) touch_bytes(t, copy.from, copy.from_offset, copy.bytes, Access::read);
    std::byte* to = touch_bytes(t, copy.to, copy.to_offset, copy.bytes, Access::write);
    std::memset(to, 0xff, copy.bytes);
    t.started.push_back(copy);
  }
}

void GroupRunner::finish_copy(const Thread& t, const PendingCopy& copy) {
  std::byte* to = touch_bytes(t, copy.to, copy.to_offset, copy.bytes, Access::write);
  if (copy.keep)
    std::memcpy(to, touch_bytes(t, copy.from, copy.from_offset, copy.bytes, Access::read),
                copy.bytes);
  else
    std::memset(to, 0, copy.bytes);
}

// --- matrices ------------------------------------------------------------------------------------

// Lets a subgroup past the operation on matrices at which all of it waits; false when none does.
bool GroupRunner::pass_matrices(uint32_t first, uint32_t last) {
  const Thread* waits = nullptr;
  for (uint32_t i = first; i < last; ++i)
    if (threads_[i].state == State::at_matrix) waits = &threads_[i];
  if (waits == nullptr) return false;
  if (last - first != kLanes) fail(*waits, "a subgroup of 32 lanes has matrices, and no other");
  for (uint32_t i = first; i < last; ++i)
    if (!same_place(*waits, threads_[i]))
      fail(*waits, "not all lanes of the subgroup run this instruction");
  const Code& c = program_.code[waits->pc];
  try {
    if (c.op == Op::MatrixLoad)
      load_matrices(first, c);
    else
      multiply_matrices(first, c);
  } catch (const MemoryFault& fault) {
    fail(*waits, fault.what);
  }
  for (uint32_t i = first; i < last; ++i) {
    ++threads_[i].pc;
    threads_[i].state = State::running;
  }
  return true;
}

void GroupRunner::load_matrices(uint32_t first, const Code& c) {
  const std::byte* rows[kLanes];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const Thread& t = threads_[first + lane];
    const uint64_t* r = t.registers.data();
    rows[lane] = touch_bytes(t, {r[c.in[0]], r[c.in[0] + 1]},
                             2 * sign_extend(r[c.in[1]], c.index_width), kRowBytes, Access::read);
  }
  const auto element = [&](uint32_t matrix, uint32_t row, uint32_t column) {
    uint16_t bits = 0;
    std::memcpy(&bits, rows[8 * matrix + row] + 2 * column, sizeof(bits));
    return uint64_t{bits};
  };
  const bool transposed = c.imm == 1;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t m = 0; m < 4; ++m) {
      const uint64_t low = transposed ? element(m, 2 * t, g) : element(m, g, 2 * t);
      const uint64_t high = transposed ? element(m, 2 * t + 1, g) : element(m, g, 2 * t + 1);
      threads_[first + lane].registers[c.out + m] = low | high << 16;
    }
  }
}

void GroupRunner::multiply_matrices(uint32_t first, const Code& c) {
  double a[16][16], b[16][8];
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    const uint64_t* r = threads_[first + lane].registers.data();
    for (uint32_t half = 0; half < 2; ++half) {
      for (uint32_t word = 0; word < 4; ++word)
        a[g + 8 * (word % 2)][2 * t + 8 * (word / 2) + half] =
            number(c.op, half_of(r[c.in[0] + word], half));
      for (uint32_t word = 0; word < 2; ++word)
        b[2 * t + 8 * word + half][g] = number(c.op, half_of(r[c.in[1] + word], half));
    }
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint64_t* r = threads_[first + lane].registers.data();
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      double sum = std::bit_cast<float>(static_cast<uint32_t>(r[c.in[2] + i]));
      for (uint32_t k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      r[c.out + i] = std::bit_cast<uint32_t>(static_cast<float>(sum));
    }
  }
}

}  // namespace primset::kir::interp
