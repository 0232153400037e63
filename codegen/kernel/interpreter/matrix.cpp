// Asynchronous copies and matrices of the interpreter.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "codegen/kernel/interpreter/group.h"

namespace primset::kir::interp {
namespace {

constexpr uint32_t kRowBytes = 16;  // of an 8 x 8 matrix of 16-bit elements
// Of a product in workgroup memory.
constexpr uint32_t kGroupLanes = 128, kGroupRows = 64, kTerms = 64, kTileAlignment = 1024;

// The element `half` of a word of two.
uint64_t half_of(uint64_t word, uint32_t half) {
  return word >> 16 * half & 0xffff;
}

double number(Op op, uint64_t bits) {
  if (op == Op::MatrixMultiplyF16 || op == Op::GroupMultiplyF16) return half_to_double(bits);
  return bf16_to_double(bits);
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
  if (last - first != kMatrixLanes)
    fail(*waits, "a subgroup of 32 lanes has matrices, and no other");
  for (uint32_t i = first; i < last; ++i)
    if (!same_place(*waits, threads_[i]))
      fail(*waits, "not all lanes of the subgroup run this instruction");
  const Code& c = program_.code[waits->pc];
  try {
    if (is_cooperative(c.op))
      run_cooperative(first, c);
    else if (c.op == Op::MatrixLoad)
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
  const std::byte* rows[kMatrixLanes];
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
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
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
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
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
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
  for (uint32_t lane = 0; lane < kMatrixLanes; ++lane) {
    uint64_t* r = threads_[first + lane].registers.data();
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      double sum = std::bit_cast<float>(static_cast<uint32_t>(r[c.in[2] + i]));
      for (uint32_t k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      r[c.out + i] = std::bit_cast<uint32_t>(static_cast<float>(sum));
    }
  }
}

// --- matrices in workgroup memory ----------------------------------------------------------------

// Lets each four subgroups past the product at which all of them wait; false when none do.
bool GroupRunner::pass_group_matrices() {
  bool passed = false;
  for (uint32_t first = 0; first < threads_.size(); first += kGroupLanes) {
    const std::span threads =
        std::span(threads_).subspan(first, std::min<size_t>(kGroupLanes, threads_.size() - first));
    const auto waits = std::ranges::find(threads, State::at_group_matrix, &Thread::state);
    if (waits == threads.end()) continue;
    if (threads.size() != kGroupLanes || options_.subgroup_size != kMatrixLanes)
      fail(*waits, "four subgroups of 32 lanes multiply, and no others");
    for (const Thread& t : threads)
      if (!same_place(*waits, t)) fail(*waits, "not all lanes of the four subgroups run this");
    try {
      multiply_group_matrices(first, program_.code[waits->pc]);
    } catch (const MemoryFault& fault) {
      fail(*waits, fault.what);
    }
    for (Thread& t : threads) {
      ++t.pc;
      t.state = State::running;
    }
    passed = true;
  }
  return passed;
}

// The operand's elements, row after row, kTerms each.
std::vector<double> GroupRunner::read_tile(uint32_t first, const Code& c, size_t operand,
                                           uint32_t rows, bool by_terms) {
  const Thread& reader = threads_[first];
  const uint64_t* r = reader.registers.data();
  const Pointer tile{r[c.in[operand]], r[c.in[operand] + 1]};
  const int width = operand == 0 ? c.index_width : c.second_index_width;
  const int64_t begin = 2 * sign_extend(r[c.in[operand + 1]], width);
  if ((tile.address + static_cast<uint64_t>(begin)) % kTileAlignment != 0)
    throw MemoryFault{"a tile begins at no multiple of 1024 bytes"};
  std::vector<double> out;
  out.reserve(size_t{rows} * kTerms);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t term = 0; term < kTerms; ++term) {
      const uint32_t line = by_terms ? row / 64 * 64 + term : row;
      const uint32_t place = by_terms ? row % 64 : term;
      const uint32_t at = line * 64 + ((place / 8 ^ line % 8) * 8 + place % 8);
      uint16_t bits = 0;
      std::memcpy(&bits, touch_bytes(reader, tile, begin + 2 * int64_t{at}, 2, Access::read), 2);
      out.push_back(number(c.op, bits));
    }
  }
  return out;
}

void GroupRunner::multiply_group_matrices(uint32_t first, const Code& c) {
  const uint32_t columns = 2u * c.lanes;
  for (uint32_t lane = 0; lane < kGroupLanes; ++lane)
    for (const size_t operand : {size_t{1}, size_t{3}})
      if (threads_[first + lane].registers[c.in[operand]] !=
          threads_[first].registers[c.in[operand]])
        throw MemoryFault{"the lanes name different tiles"};
  const std::vector<double> a = read_tile(first, c, 0, kGroupRows, (c.imm & 1) != 0);
  const std::vector<double> b = read_tile(first, c, 2, columns, (c.imm & 2) != 0);
  for (uint32_t lane = 0; lane < kGroupLanes; ++lane) {
    uint64_t* r = threads_[first + lane].registers.data();
    for (uint32_t i = 0; i < c.lanes; ++i) {
      const uint32_t row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
      const uint32_t column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      double sum = std::bit_cast<float>(static_cast<uint32_t>(r[c.in[4] + i]));
      for (uint32_t k = 0; k < kTerms; ++k) sum += a[row * kTerms + k] * b[column * kTerms + k];
      r[c.out + i] = std::bit_cast<uint32_t>(static_cast<float>(sum));
    }
  }
}

}  // namespace primset::kir::interp
