// _sobol_engine_initialize_state_: the direction numbers of a Sobol sequence. They are a table, of
// which no graph of primitives can be made, and so are written from the host.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/operators/random/direction_numbers.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/call/intrinsics.h"

namespace primset::runtime {
namespace {

using decomps::kSobolBits;
using decomps::kSobolDims;
using decomps::SobolBeginning;

// m_j = 2 a_1 m_(j-1) ^ 4 a_2 m_(j-2) ^ ... ^ 2^s m_(j-s) ^ m_(j-s), for j above s.
std::vector<uint32_t> direction_numbers(const SobolBeginning& b) {
  std::vector<uint32_t> m = b.numbers;
  const size_t degree = m.size();
  while (m.size() < kSobolBits) {
    const size_t j = m.size();
    uint32_t next = m[j - degree] ^ (m[j - degree] << degree);
    for (size_t k = 1; k < degree; ++k) {
      if ((b.polynomial >> (degree - 1 - k)) & 1u) next ^= m[j - k] << k;
    }
    m.push_back(next);
  }
  return m;
}

// Rows of numbers as binary fractions: each is shifted to where its bit is the first of kSobolBits.
std::vector<int64_t> state_rows(int64_t rows) {
  std::vector<int64_t> out;
  const auto add = [&](const std::vector<uint32_t>& numbers) {
    for (size_t j = 0; j < numbers.size(); ++j)
      out.push_back(int64_t{numbers[j]} << (kSobolBits - 1 - static_cast<int64_t>(j)));
  };
  if (rows > 0) add(std::vector<uint32_t>(kSobolBits, 1));
  for (const SobolBeginning& b : decomps::sobol_beginnings(rows)) add(direction_numbers(b));
  return out;
}

void require_state(const TensorImpl& state, int64_t dimension) {
  const auto refuse = [](std::string text) { throw Error(ErrorCode::runtime, std::move(text)); };
  if (state.dtype != DType::i64)
    refuse(fmt::format("sobolstate needs to be of type Long, but got {}", name(state.dtype)));
  if (state.rank != 2 || state.sizes()[1] != kSobolBits)
    refuse(
        fmt::format("_sobol_engine_initialize_state_: expected a state of {} columns, but got "
                    "[{}]",
                    kSobolBits, fmt::join(state.sizes(), ", ")));
  if (dimension > std::min(state.sizes()[0], kSobolDims))
    refuse(
        fmt::format("_sobol_engine_initialize_state_: expected a dimension of at most {}, for a "
                    "state of {} rows, but got {}",
                    kSobolDims, state.sizes()[0], dimension));
}

Tensor rows_of(const Tensor& x, int64_t first, int64_t count) {
  const Arg args[] = {x, 0, first, count};
  return call_operator("narrow", args);
}

}  // namespace

// Rows that are no dims are shifted as if they held numbers; the first one is always a dim.
void intrinsics::sobol_directions(Call& call) {
  const TensorImpl& state = *call.tensor(0);
  require_state(state, call.args[1].integer);
  const_cast<TensorImpl&>(state).retain();
  const Tensor self(const_cast<TensorImpl*>(&state));
  const int64_t rows = std::min(std::max<int64_t>(call.args[1].integer, 1), self.size(0));
  const std::vector<int64_t> numbers = state_rows(rows);
  if (rows > 0) {
    const Tensor table =
        Tensor::of(std::span<const int64_t>(numbers), {rows, kSobolBits}, self.device());
    const Tensor dims = rows_of(self, 0, rows);
    const Arg args[] = {dims, table};
    call_operator("copy_", args);
  }
  if (rows < self.size(0)) {
    const Tensor others = rows_of(self, rows, self.size(0) - rows);
    const Tensor powers = Tensor::of(std::span<const int64_t>(numbers).first(kSobolBits),
                                     {kSobolBits}, self.device());
    const Arg args[] = {others, powers};
    call_operator("mul_.Tensor", args);
  }
  call.add_result(self, {ResultOrigin::Kind::argument, 0});
}

}  // namespace primset::runtime
