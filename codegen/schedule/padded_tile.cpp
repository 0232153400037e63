#include "codegen/schedule/padded_tile.h"

#include <algorithm>

namespace primset::schedule {

using kir::Scalar;
using kir::Value;
using Values = kir::Builder::Values;

PaddedTile::PaddedTile(Frame& f, DType dtype, const MatrixLayout& layout,
                       const ContractionRoles& roles, const SymInts& shape, Sizes sizes)
    : f_(f),
      source_(f, dtype, layout, roles, shape),
      sizes_(sizes),
      lines_(layout.along_terms ? sizes.extent : sizes.depth),
      chunks_(line_chunks(layout.along_terms ? sizes.depth : sizes.extent)),
      bf16_(dtype == DType::bf16) {}

int PaddedTile::most_words(Sizes s) {
  const auto words = [](int lines, int elements) {
    return lines * (line_chunks(elements) + 1) * kChunkWords;
  };
  return std::max(words(s.extent, s.depth), words(s.depth, s.extent));
}

void PaddedTile::place(Value memory, int first) {
  memory_ = memory;
  first_word_ = first;
}

std::pair<Value, Value> PaddedTile::place_of(int i) {
  const Value n = b().add(b().local_id(0), b().i32(int64_t{sizes_.threads} * i));
  return {b().udiv(n, b().i32(chunks_)), b().urem(n, b().i32(chunks_))};
}

Value PaddedTile::first_of(Value number) {
  return b().add(b().mul(number, b().i32(words())), b().i32(first_word_));
}

Values PaddedTile::read(Value first_term, bool by_chunks) {
  Values out;
  for (int i = 0; i < chunks_of_thread(); ++i) {
    const auto [line, chunk] = place_of(i);
    const Value outer = f_.index(line), inner = f_.index(b().mul(chunk, b().i32(kChunk)));
    const bool along = source_.along_terms();
    const Value row = b().add(source_.first_row(), along ? outer : inner);
    const Value term = b().add(first_term, along ? inner : outer);
    out.push_back(by_chunks ? chunk_at(row, term) : elements_at(row, term));
  }
  return out;
}

Value PaddedTile::chunk_at(Value row, Value term) {
  const auto [inside, from] = source_.at(row, term);
  // Outside of the operand the first chunk is read, and dropped.
  const Value at = b().select(inside, b().lshr(from, f_.index_constant(1)), f_.index_constant(0));
  return b().select(inside, b().load(kQuadWords, source_.pointer(), at, kQuadBytes), no_chunk());
}

Value PaddedTile::elements_at(Value row, Value term) {
  Value words = b().constant(kQuadWords, 0);
  for (uint32_t w = 0; w < kChunkWords; ++w) {
    const Value low = element(row, term, 2 * w), high = element(row, term, 2 * w + 1);
    words = b().insert(words, b().or_(low, b().shl(high, b().i32(16))), w);
  }
  return words;
}

// Element `i` of the chunk that begins there, in the low half of a word.
Value PaddedTile::element(Value row, Value term, uint32_t i) {
  const Value more = f_.index_constant(i);
  const bool along = source_.along_terms();
  const Value v =
      source_.load(along ? row : b().add(row, more), along ? b().add(term, more) : term);
  return b().zext(b().bitcast(v, Scalar::i16), Scalar::i32);
}

void PaddedTile::write(Value number, std::span<const Value> chunks) {
  for (int i = 0; i < chunks_of_thread(); ++i) {
    const auto [line, chunk] = place_of(i);
    const Value in_line = b().mul(chunk, b().i32(kChunkWords));
    const Value in_tile = b().add(b().mul(line, b().i32(pitch() / 2)), in_line);
    b().store(memory_, b().add(first_of(number), in_tile), chunks[static_cast<size_t>(i)],
              kQuadBytes);
  }
}

Value PaddedTile::matrix(Value number, Value first, int i, int k, bool left) {
  const bool along = source_.along_terms();
  const Value row = b().add(first, b().i32(int64_t{kCooperativeSide} * i));
  const Value at =
      along ? b().add(b().mul(row, b().i32(pitch())), b().i32(int64_t{kCooperativeSide} * k))
            : b().add(row, b().i32(int64_t{kCooperativeSide} * k * pitch()));
  const Scalar type = left ? (bf16_ ? Scalar::bf16_left : Scalar::f16_left)
                           : (bf16_ ? Scalar::bf16_right : Scalar::f16_right);
  const Value from = b().add(b().mul(first_of(number), b().i32(2)), at);
  return b().cooperative_load(type, memory_, from, static_cast<uint32_t>(pitch()), left != along);
}

}  // namespace primset::schedule
