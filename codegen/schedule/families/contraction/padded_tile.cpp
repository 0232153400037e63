#include "codegen/schedule/families/contraction/padded_tile.h"

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
      lines_(layout.k_contiguous ? sizes.extent : sizes.depth),
      chunks_(line_chunks(layout.k_contiguous ? sizes.depth : sizes.extent)),
      bf16_(dtype == DType::bf16) {
  // A kernel's groups run at once: none writes an operand that others read.
  b().set_invariant(source_.pointer());
}

int PaddedTile::max_words(Sizes s) {
  const auto words = [](int lines, int elements) {
    return lines * (line_chunks(elements) + 1) * kVec4Words;
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

Values PaddedTile::read(Value first_k, bool by_chunks) {
  Values out;
  for (int i = 0; i < chunks_of_thread(); ++i) {
    const auto [line, chunk] = place_of(i);
    const Value outer = f_.index(line), inner = f_.index(b().mul(chunk, b().i32(kChunk)));
    const bool k_contiguous = source_.k_contiguous();
    const Value row = b().add(source_.first_row(), k_contiguous ? outer : inner);
    const Value k = b().add(first_k, k_contiguous ? inner : outer);
    if (by_chunks) {
      const auto [inside, from] = source_.at(row, k);
      // Outside of the operand its first chunk is read.
      const Value at =
          b().select(inside, b().lshr(from, f_.index_constant(1)), f_.index_constant(0));
      out.insert(out.end(), {b().load(kVec4Type, source_.pointer(), at, kVec4Bytes), inside});
    } else {
      out.insert(out.end(), {elements_at(row, k), b().constant({Scalar::i1}, 1)});
    }
  }
  return out;
}

Values PaddedTile::none() {
  Values out;
  for (int i = 0; i < chunks_of_thread(); ++i)
    out.insert(out.end(), {no_chunk(), b().constant({Scalar::i1}, 0)});
  return out;
}

Value PaddedTile::elements_at(Value row, Value k) {
  Value words = b().constant(kVec4Type, 0);
  for (uint32_t w = 0; w < kVec4Words; ++w) {
    const Value low = element(row, k, 2 * w), high = element(row, k, 2 * w + 1);
    words = b().insert(words, b().or_(low, b().shl(high, b().i32(16))), w);
  }
  return words;
}

// Element `i` of the chunk that begins there, in the low half of a word.
Value PaddedTile::element(Value row, Value k, uint32_t i) {
  const Value more = f_.index_constant(i);
  const bool k_contiguous = source_.k_contiguous();
  const Value v =
      source_.load(k_contiguous ? row : b().add(row, more), k_contiguous ? b().add(k, more) : k);
  return b().zext(b().bitcast(v, Scalar::i16), Scalar::i32);
}

void PaddedTile::begin_inner() {
  inner_.clear();
  for (int i = 0; i < chunks_of_thread(); ++i) {
    const auto [line, chunk] = place_of(i);
    const Value outer = f_.index(line), inner = f_.index(b().mul(chunk, b().i32(kChunk)));
    const bool k_contiguous = source_.k_contiguous();
    const Value row = source_.inside_row(b().add(source_.first_row(), k_contiguous ? outer : inner),
                                         k_contiguous ? 1 : kChunk);
    inner_.push_back(
        b().lshr(source_.at(row, k_contiguous ? inner : outer).second, f_.index_constant(1)));
  }
}

Values PaddedTile::read_inner(Value first_k) {
  Values out;
  const Value more = b().lshr(source_.k_offset(first_k), f_.index_constant(1));
  for (const Value first : inner_)
    out.push_back(b().load(kVec4Type, source_.pointer(), b().add(first, more), kVec4Bytes));
  return out;
}

Values PaddedTile::zeros_before(Value first_k, Value from, const Values& chunks) {
  Values left;
  for (int i = 0; i < chunks_of_thread(); ++i) {
    const auto [line, chunk] = place_of(i);
    const Value in_tile = source_.k_contiguous() ? b().mul(chunk, b().i32(kChunk)) : line;
    const Value k = b().add(first_k, f_.index(in_tile));
    left.push_back(b().select(b().slt(k, from), no_chunk(), chunks[static_cast<size_t>(i)]));
  }
  return left;
}

void PaddedTile::write_inner(Value number, Values chunks, Value first_k, Value from) {
  const auto with_zeros = [&] { return zeros_before(first_k, from, chunks); };
  chunks = sizes_.selects ? with_zeros()
                          : b().if_else(b().slt(first_k, from), with_zeros, [&] { return chunks; });
  for (int i = 0; i < chunks_of_thread(); ++i)
    store_chunk(number, i, chunks[static_cast<size_t>(i)]);
}

void PaddedTile::write(Value number, std::span<const Value> chunks) {
  for (int i = 0; i < chunks_of_thread(); ++i) {
    const auto n = 2 * static_cast<size_t>(i);
    store_chunk(number, i, b().select(chunks[n + 1], chunks[n], no_chunk()));
  }
}

void PaddedTile::store_chunk(Value number, int i, Value words) {
  const auto [line, chunk] = place_of(i);
  const Value in_line = b().mul(chunk, b().i32(kVec4Words));
  const Value in_tile = b().add(b().mul(line, b().i32(pitch() / 2)), in_line);
  b().store(memory_, b().add(first_of(number), in_tile), words, kVec4Bytes);
}

Value PaddedTile::matrix(Value number, Value first, int i, int k, bool left) {
  const bool k_contiguous = source_.k_contiguous();
  const int64_t block = int64_t{k_contiguous ? i : k} * kCooperativeSide * (chunks_ + 1) +
                        int64_t{k_contiguous ? k : i} * (kCooperativeSide / kChunk);
  const Value line =
      k_contiguous ? b().mul(first, b().i32(chunks_ + 1)) : b().udiv(first, b().i32(kChunk));
  const Value of_tile = b().add(b().mul(number, b().i32(words() / kVec4Words)), line);
  const Value at = b().add(of_tile, b().i32(first_word_ / kVec4Words + block));
  const kir::Type type = kir::Type::matrix(bf16_ ? Scalar::bf16 : Scalar::f16,
                                           left ? kir::MatrixUse::a : kir::MatrixUse::b);
  return b().cooperative_load(type, memory_, at, static_cast<uint32_t>(chunks_ + 1),
                              left != k_contiguous);
}

}  // namespace primset::schedule
