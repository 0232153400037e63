// Random numbers of explicit keys: the last dim of a key holds a seed and an offset, the first
// counter of Philox. torch.func's names; the same numbers as PyTorch's CUDA kernels draw.
#include <fmt/format.h>

#include <numbers>
#include <vector>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/random.h"
#include "decomps/primitives/math.h"
#include "decomps/primitives/random/philox.h"

namespace primset::decomps {
namespace {

void require_key(std::string_view op, const Val& key, std::string_view shape) {
  require(
      key.rank() >= 1 && key.size(-1) == SymInt(2), ErrorCode::runtime,
      fmt::format("{}: key must have shape {}, got shape {}", op, shape, shape_text(key.shape())));
  require(key.dtype() == DType::u64, ErrorCode::runtime,
          fmt::format("{}: key must have dtype uint64, got {}", op, aten_name(key.dtype())));
}

// The keys that the first blocks from `ahead` counters on make: two words a seed, two an offset.
Val derived_keys(const Val& key, const Val& ahead) {
  const Val seed = select(key, -1, SymInt(0)), offset = select(key, -1, SymInt(1));
  const Val counter = offset + ahead;
  const philox::Words w = philox::block(broadcast_to(seed, counter.shape()), counter);
  return concatenate({unsqueeze(philox::joined_words(w[0], w[1]), -1),
                      unsqueeze(philox::joined_words(w[2], w[3]), -1)},
                     counter.rank());
}

void require_distribution(std::string_view op, const Val& self, const Val& key) {
  require(
      is_floating(self.dtype()), ErrorCode::runtime,
      fmt::format("{}: self must be a floating point tensor, got {}", op, aten_name(self.dtype())));
  require_key(op, key, "(2,) or (*batch, 2)");
  if (key.rank() == 1) return;
  require(key.rank() == self.rank() + 1, ErrorCode::runtime,
          fmt::format("{}: batched key must have ndim == output ndim + 1, got key shape {} with "
                      "output shape {}",
                      op, shape_text(key.shape()), shape_text(self.shape())));
  SymInts batch = key.shape();
  batch.pop_back();
  for (size_t d = 0; d < batch.size(); ++d)
    require(batch[d] == SymInt(1) || batch[d] == self.shape()[d], ErrorCode::runtime,
            fmt::format("{}: key batch shape {} is not broadcastable with output shape {}", op,
                        shape_text(batch), shape_text(self.shape())));
}

using Numbers = std::vector<Val> (*)(const philox::Words& words, DType type);

// A key fills the dims along which there is but one of it, four or two numbers a counter.
Val filled_by_keys(Tracer& t, const Val& self, const Val& key, Numbers numbers) {
  const SymInts shape = self.shape();
  size_t outer = key.rank() > 1 ? shape.size() : 0;
  while (outer > 0 && key.shape()[outer - 1] == SymInt(1)) --outer;
  const auto inner = shape.begin() + static_cast<std::ptrdiff_t>(outer);
  const SymInt rows = prims::product(SymInts(shape.begin(), inner)),
               length = prims::product(SymInts(inner, shape.end()));
  SymInts spread(shape.begin(), inner);
  spread.resize(static_cast<size_t>(key.rank()) - 1, SymInt(1));
  spread.emplace_back(2);
  const Val keys = reshape(broadcast_to(key, spread), {rows, 2});
  const DType type = opmath_type(self.dtype());
  const int64_t numbers_per_counter = type == DType::f64 ? 2 : 4;
  const SymInts blocks = {rows, prims::ceil_div(length, numbers_per_counter)};
  const Val counter = convert(t.iota(blocks, 1, DType::i64), DType::u64) + slice(keys, 1, 1, 2, 1);
  const Val seed = broadcast_to(slice(keys, 1, 0, 1, 1), blocks);
  std::vector<Val> columns;
  for (const Val& x : numbers(philox::block(seed, counter), self.dtype()))
    columns.push_back(unsqueeze(x, 2));
  const Val filled = reshape(concatenate(columns, 2), {rows, blocks[1] * numbers_per_counter});
  return reshape(slice(filled, 1, 0, length, 1), shape);
}

// The lowest bits of a word, as many as the significand has; of f64 of two words, the first above.
std::vector<Val> unit_numbers(const philox::Words& w, DType dtype) {
  const int n = float_format(dtype).mantissa_bits + 1;
  const auto number = [&](const Val& bits) {
    const Val low = bits & full_like(bits, Scalar((int64_t{1} << n) - 1));
    return convert(low, opmath_type(dtype)) * Scalar(philox::power_of_two(-n));
  };
  if (dtype != DType::f64) return {number(w[0]), number(w[1]), number(w[2]), number(w[3])};
  return {number(philox::joined_words(w[1], w[0])), number(philox::joined_words(w[3], w[2]))};
}

// Box and Muller's pairs, of a number in (0, 1) and a part of the circle; of f64 by two words each.
std::vector<Val> normal_numbers(const philox::Words& w, DType dtype) {
  const bool wide = dtype == DType::f64;
  const DType type = opmath_type(dtype);
  const auto share = [&](size_t i) {
    constexpr double kWord = 0x1p-32;
    if (!wide) return convert(w[i], type) * Scalar(kWord) + Scalar(kWord / 2);
    const Val low = convert(w[i + 1], type) * Scalar(kWord * kWord) + Scalar(kWord * kWord / 2);
    return convert(w[i], type) * Scalar(kWord) + low;
  };
  std::vector<Val> out;
  for (size_t i = 0; i < 4; i += wide ? 4 : 2) {
    const Val radius = math::sqrt(math::log(share(i)) * Scalar(-2.0));
    const Val angle = share(wide ? i + 2 : i + 1) * Scalar(2 * std::numbers::pi);
    out.push_back(radius * math::cos(angle));
    out.push_back(radius * math::sin(angle));
  }
  return out;
}

}  // namespace

Val _philox_key_split::decompose(Tracer& t, const Val& key, int64_t num_splits) {
  constexpr const char* kOp = "_philox_key_split";
  require_key(kOp, key, "(*batch, 2)");
  require(num_splits > 0, ErrorCode::runtime,
          fmt::format("{}: num_splits must be positive, got {}", kOp, num_splits));
  SymInts shape = key.shape();
  shape.back() = 1;
  shape.insert(shape.begin(), num_splits);
  shape.pop_back();
  return derived_keys(key, convert(t.iota(shape, 0, DType::i64), DType::u64));
}

Val _philox_key_fold_in::decompose(Tracer& t, const Val& key, int64_t data) {
  require_key("_philox_key_fold_in", key, "(*batch, 2)");
  return derived_keys(key, convert(t.constant(data, DType::i64), DType::u64));
}

Val _philox_uniform::decompose(Tracer& t, const Val& self, const Val& key, const ScalarArg& low,
                               const ScalarArg& high) {
  require_distribution("_philox_uniform_", self, key);
  const Val u = filled_by_keys(t, self, key, unit_numbers);
  const auto rounded = [&](const ScalarArg& s) {
    return convert(t.scalar(s, self.dtype()), u.dtype());
  };
  return convert(u * (rounded(high) - rounded(low)) + rounded(low), self.dtype());
}

Val _philox_normal::decompose(Tracer& t, const Val& self, const Val& key, const ScalarArg& mean,
                              const ScalarArg& std) {
  require_distribution("_philox_normal_", self, key);
  const Val z = filled_by_keys(t, self, key, normal_numbers);
  return convert(z * t.scalar(std, z.dtype()) + t.scalar(mean, z.dtype()), self.dtype());
}

}  // namespace primset::decomps
