#include "codegen/schedule/families/sort/sorted_rows.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;

namespace {

// Memory has 32 banks, or fewer. A slot in 32 is left free, so that threads that each take a power
// of two of neighbours do not meet in one of them.
constexpr uint32_t kBanks = 32;
constexpr int kPlaceBits = 16;

// One more than there are: a thread looks at the element behind a run before it sees its end.
uint32_t memory_words(uint32_t slots) {
  return slots + slots / kBanks + 1;
}

Value lesser(kir::Builder& b, Value x, Value y) {
  return b.select(b.slt(x, y), x, y);
}

}  // namespace

uint32_t SortedRows::group_bytes(DType key, uint32_t slots) {
  return memory_words(slots) * (4 + (byte_size(key) == 8 ? 8 : 4));
}

SortedRows::SortedRows(Frame& f, const GroupSort& sort)
    : f_(f),
      b_(f.builder()),
      sort_(sort),
      key_(sort.key),
      keys_(b_, sort.key, sort.descending),
      row_slots_(b_.int_resize(f.param(sort.row_slots()), kir::Scalar::i32, true)),
      words_(b_.group_alloc(keys_.word().scalar, memory_words(sort.tile.elements()))),
      others_(b_.group_alloc(kir::Scalar::i32, memory_words(sort.tile.elements()))) {
  const Value row_threads = b_.int_resize(f.param(sort.row_threads()), kir::Scalar::i32, true);
  first_slot_ = b_.mul(b_.local_id(0), b_.i32(sort.tile.items));
  row_begin_ = b_.mul(b_.udiv(b_.local_id(0), row_threads), row_slots_);
  // The last threads may have no row, but what lies behind the last one.
  row_end_ = lesser(b_, b_.add(row_begin_, row_slots_), b_.i32(sort.tile.elements()));
  first_place_ = b_.sub(first_slot_, row_begin_);
}

Value SortedRows::padded(Value slot) {
  return b_.add(slot, b_.lshr(slot, b_.i32(5)));
}

Value SortedRows::load_word(Value slot) {
  return b_.load(keys_.word(), words_, padded(slot), kir::bytes(keys_.word().scalar));
}

void SortedRows::put(Value slot, Value ordered) {
  b_.store(words_, padded(slot), ordered, kir::bytes(keys_.word().scalar));
}

Value SortedRows::after_all() {
  return packed() ? b_.i32((1 << kPlaceBits) - 1) : keys_.last();
}

Value SortedRows::key(Value slot) {
  return packed() ? b_.lshr(load_word(slot), b_.i32(kPlaceBits)) : load_word(slot);
}

Value SortedRows::origin(Value slot) {
  if (packed()) return b_.and_(load_word(slot), b_.i32((1 << kPlaceBits) - 1));
  return b_.load(kI32, others_, padded(slot), 4);
}

void SortedRows::stage(Value slot, Value word) {
  if (!packed()) return put(slot, word);
  b_.store(others_, padded(slot), word, 4);
}

Value SortedRows::staged(Value slot) {
  return packed() ? b_.load(kI32, others_, padded(slot), 4) : load_word(slot);
}

void SortedRows::sort() {
  Held held = own_items();
  sort_held(held);
  b_.if_then(b_.ieq(b_.local_id(0), b_.i32(0)),
             [&] { put(b_.i32(sort_.tile.elements()), after_all()); });
  b_.barrier();
  write(held);
  const Value length = b_.int_resize(f_.param(sort_.length()), kir::Scalar::i32, true);
  b_.while_loop(
      {b_.i32(sort_.tile.items)},
      [&](std::span<const Value> run) { return b_.slt(run[0], length); },
      [&](std::span<const Value> run) {
        b_.barrier();
        const Held next = merged(run[0]);
        b_.barrier();
        write(next);
        return kir::Builder::Values{b_.add(run[0], run[0])};
      });
}

SortedRows::Held SortedRows::own_items() {
  Held held;
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    const Value word = load_word(b_.add(first_slot_, b_.i32(k)));
    const Value place = b_.add(first_place_, b_.i32(k));
    if (packed()) {
      held.words.push_back(b_.or_(b_.shl(word, b_.i32(kPlaceBits)), place));
    } else {
      held.words.push_back(word);
      held.origins.push_back(place);
    }
  }
  return held;
}

// Odd-even transposition: only neighbours change places, and equal ones do not.
void SortedRows::sort_held(Held& held) {
  for (uint32_t round = 0; round < sort_.tile.items; ++round) {
    for (uint32_t k = round % 2; k + 1 < sort_.tile.items; k += 2) {
      const Value swaps = b_.ult(held.words[k + 1], held.words[k]);
      const auto exchange = [&](std::vector<Value>& x) {
        const Value low = x[k], high = x[k + 1];
        x[k] = b_.select(swaps, high, low);
        x[k + 1] = b_.select(swaps, low, high);
      };
      exchange(held.words);
      if (!packed()) exchange(held.origins);
    }
  }
}

void SortedRows::write(const Held& held) {
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    const Value slot = b_.add(first_slot_, b_.i32(k));
    put(slot, held.words[k]);
    if (!packed()) b_.store(others_, padded(slot), held.origins[k], 4);
  }
}

// The two runs of this length, a power of two, that the thread's part of the result comes from.
SortedRows::Runs SortedRows::runs_of(Value run) {
  const Value pair = b_.and_(first_place_, b_.sub(b_.i32(0), b_.add(run, run)));
  Runs out;
  out.a = b_.add(row_begin_, pair);
  out.b = out.a_end = lesser(b_, b_.add(out.a, run), row_end_);
  out.b_end = lesser(b_, b_.add(out.b, run), row_end_);
  return out;
}

// Merge path: how many of the first `diagonal` elements of the merged runs come from a.
Value SortedRows::taken_from_a(const Runs& runs, Value diagonal) {
  const Value least = b_.sub(diagonal, b_.sub(runs.b_end, runs.b));
  const Value low = b_.select(b_.slt(least, b_.i32(0)), b_.i32(0), least);
  const Value high = lesser(b_, diagonal, b_.sub(runs.a_end, runs.a));
  const Value last_of_b = b_.add(runs.b, b_.sub(diagonal, b_.i32(1)));
  return b_.while_loop(
      {low, high}, [&](std::span<const Value> v) { return b_.slt(v[0], v[1]); },
      [&](std::span<const Value> v) {
        const Value middle = b_.lshr(b_.add(v[0], v[1]), b_.i32(1));
        const Value b_first =
            b_.ult(load_word(b_.sub(last_of_b, middle)), load_word(b_.add(runs.a, middle)));
        return kir::Builder::Values{b_.select(b_first, v[0], b_.add(middle, b_.i32(1))),
                                    b_.select(b_first, middle, v[1])};
      })[0];
}

// As many elements as the thread has slots, merged from two runs.
SortedRows::Held SortedRows::merged(Value run) {
  const Runs runs = runs_of(run);
  const Value diagonal = b_.sub(first_slot_, runs.a);
  const Value from_a = taken_from_a(runs, diagonal);
  Value a = b_.add(runs.a, from_a), b = b_.add(runs.b, b_.sub(diagonal, from_a));
  Value x = load_word(a), y = load_word(b);
  Held held;
  std::vector<Value> slots;
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    const Value take_b =
        b_.and_(b_.slt(b, runs.b_end), b_.or_(b_.sle(runs.a_end, a), b_.ult(y, x)));
    held.words.push_back(b_.select(take_b, y, x));
    slots.push_back(b_.select(take_b, b, a));
    if (k + 1 == sort_.tile.items) break;
    const Value next = b_.add(slots[k], b_.i32(1)), word = load_word(next);
    a = b_.select(take_b, a, next);
    b = b_.select(take_b, next, b);
    x = b_.select(take_b, x, word);
    y = b_.select(take_b, word, y);
  }
  if (!packed())
    for (Value slot : slots) held.origins.push_back(b_.load(kI32, others_, padded(slot), 4));
  return held;
}

}  // namespace primset::schedule
