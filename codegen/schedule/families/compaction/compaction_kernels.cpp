#include "codegen/schedule/families/compaction/compaction_kernels.h"

#include <algorithm>

#include "codegen/schedule/families/scan/group_scan.h"
#include "codegen/schedule/loops/group_memory.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;

namespace {

// A kernel whose workgroups go through the tiles.
class CompactionKernel {
 public:
  CompactionKernel(const BuildContext& c, const Compaction& compaction)
      : c_(compaction),
        node_(c.values.graph.node(c_.node)),
        type_(c.values.graph.type(node_.operands[0]).dtype),
        domain_{c_.size},
        f_(c.name, c.machine, c.index32, domain_),
        b_(f_.builder()),
        e_(f_, c.values),
        t_(b_.local_id(0)) {
    f_.set_error_buffer(c.errors);
  }

  BuiltKernel count();
  BuiltKernel starts();
  BuiltKernel store();

 private:
  using Selected = std::vector<Value>;  // i1: of a thread's elements

  void move_to(Value element) { f_.set_loops({LoopDim{{0}, domain_[0], element, false}}); }
  // The first of this thread's elements of a tile.
  Value first_of(Value tile) {
    const Value begin = b_.mul(tile, f_.index_constant(c_.tile()));
    return b_.add(begin, f_.index(b_.mul(t_, b_.i32(c_.items))));
  }
  // Calls `body` at each of them; behind the last element of all it is at the first one of all, and
  // `inside` does not hold.
  void for_each_item(Value tile, const std::function<void(Value inside)>& body);
  Selected selected(Value tile);
  Value sum_of(const Selected& selected);
  // Into the workgroup's memory, those selected side by side from `slot` on.
  void put(GroupMemory& memory, Value tile, const Selected& selected, Value slot);

  void write(Value at, const ElementValue& x) {
    f_.store(c_.packed->buffer, type_, element_address(f_, *c_.packed, {affine_index(place(at))}),
             x);
  }
  void fill_behind(Value tile, Value start, Value selected);
  Value load_start(Value tile) { return f_.load(c_.starts, c_.place, place(tile)).re; }
  void store_start(Value tile, Value x) { f_.store(c_.starts, c_.place, place(tile), {x, {}}); }
  static Affine place(Value at) {
    Affine a;
    a.opaque = at;
    return a;
  }

  const Compaction& c_;
  const prims::Node& node_;
  const DType type_;
  const SymInts domain_;
  Frame f_;
  kir::Builder& b_;
  ElementEmitter e_;
  const Value t_;
};

void CompactionKernel::for_each_item(Value tile, const std::function<void(Value)>& body) {
  const Value first = first_of(tile), end = f_.param(c_.size);
  for (uint32_t k = 0; k < c_.items; ++k) {
    const Value element = b_.add(first, f_.index_constant(k));
    const Value inside = b_.slt(element, end);
    move_to(b_.select(inside, element, f_.index_constant(0)));
    ElementEmitter::Scope scope(e_);
    body(inside);
  }
}

CompactionKernel::Selected CompactionKernel::selected(Value tile) {
  Selected out;
  for_each_item(tile, [&](Value inside) {
    const Value mask = e_.emit(node_.operands[1], identity_indices(domain_)).re;
    out.push_back(b_.and_(mask, inside));
  });
  return out;
}

Value CompactionKernel::sum_of(const Selected& selected) {
  Value sum = b_.i32(0);
  for (Value s : selected) sum = b_.add(sum, b_.zext(s, kir::Scalar::i32));
  return sum;
}

BuiltKernel CompactionKernel::count() {
  b_.set_group_size(c_.threads);
  GroupScan scan(b_, GroupScan::sums(b_, {kI32}), c_.threads);
  for_each_by_groups(f_, c_.tiles(), [&](Value tile) {
    const Value total = scan.of({sum_of(selected(tile))}).total[0];
    b_.if_then(b_.ieq(t_, b_.i32(0)), [&] { store_start(tile, f_.index(total)); });
  });
  return built(std::move(f_));
}

// One workgroup, as large as may be: what it waits for is each step after the one before.
BuiltKernel CompactionKernel::starts() {
  constexpr uint32_t kThreads = 1024, kTilesOfThread = 4;
  const uint32_t threads = std::min(kThreads, f_.target().max_group_threads);
  b_.set_group_size(threads);
  f_.step().groups = {1, 1, 1};
  GroupScan scan(b_, GroupScan::sums(b_, {f_.index_type()}), threads);
  const Value tiles = f_.param(c_.tiles()), zero = f_.index_constant(0);
  const auto all = b_.for_loop(
      zero, tiles, f_.index_constant(int64_t{threads} * kTilesOfThread), {zero},
      [&](Value begin, std::span<const Value> before) {
        const Value first = b_.add(begin, f_.index(b_.mul(t_, b_.i32(kTilesOfThread))));
        std::vector<Value> inside, counts;
        Value own = zero;
        for (uint32_t k = 0; k < kTilesOfThread; ++k) {
          const Value tile = b_.add(first, f_.index_constant(k));
          inside.push_back(b_.slt(tile, tiles));
          const Value count = load_start(b_.select(inside[k], tile, zero));
          counts.push_back(b_.select(inside[k], count, zero));
          own = b_.add(own, counts[k]);
        }
        const GroupScan::Result found = scan.of({own});
        Value start = b_.add(before[0], found.exclusive[0]);
        for (uint32_t k = 0; k < kTilesOfThread; ++k) {
          b_.if_then(inside[k], [&] { store_start(b_.add(first, f_.index_constant(k)), start); });
          start = b_.add(start, counts[k]);
        }
        return kir::Builder::Values{b_.add(before[0], found.total[0])};
      });
  if (c_.count) {
    b_.if_then(b_.ieq(t_, b_.i32(0)), [&] {
      f_.store(c_.count->buffer, DType::i64, element_address(f_, *c_.count, {}),
               {b_.int_resize(all[0], kir::Scalar::i64, true), {}});
    });
  }
  return built(std::move(f_));
}

void CompactionKernel::put(GroupMemory& memory, Value tile, const Selected& selected, Value slot) {
  std::vector<ElementValue> elements;
  for_each_item(tile, [&](Value) {
    elements.push_back(e_.emit(node_.operands[0], identity_indices(domain_)));
  });
  for (uint32_t k = 0; k < c_.items; ++k) {
    const ElementValue& x = elements[k];
    std::vector<Value> parts = {x.re};
    if (is_complex(type_)) parts.push_back(x.im);
    b_.if_then(selected[k], [&] { memory.put(slot, parts); });
    slot = b_.add(slot, b_.zext(selected[k], kir::Scalar::i32));
  }
}

BuiltKernel CompactionKernel::store() {
  b_.set_group_size(c_.threads);
  GroupScan scan(b_, GroupScan::sums(b_, {kI32}), c_.threads);
  const Value zero = b_.constant(kir::Type{register_scalar(type_)}, 0);
  const std::vector<Value> like(is_complex(type_) ? 2 : 1, zero);
  GroupMemory memory(b_, like, static_cast<uint32_t>(c_.tile()));
  for_each_by_groups(f_, c_.tiles(), [&](Value tile) {
    const Selected own = selected(tile);
    const Value start = load_start(tile);
    const GroupScan::Result found = scan.of({sum_of(own)});
    put(memory, tile, own, found.exclusive[0]);
    b_.barrier();
    b_.for_loop(t_, found.total[0], b_.i32(c_.threads), {}, [&](Value slot, auto) {
      const std::vector<Value> parts = memory.get(slot);
      write(b_.add(start, f_.index(slot)), {parts[0], parts.size() > 1 ? parts[1] : Value{}});
      return kir::Builder::Values{};
    });
    fill_behind(tile, start, found.total[0]);
    b_.barrier();  // the memory is used again
  });
  return built(std::move(f_));
}

// Zeros for what is not selected, from the end on: whoever reads there reads numbers.
void CompactionKernel::fill_behind(Value tile, Value start, Value selected) {
  const Value begin = b_.mul(tile, f_.index_constant(c_.tile())), end = f_.param(c_.size);
  const Value left = b_.sub(end, begin), whole = f_.index_constant(c_.tile());
  const Value elements = b_.select(b_.slt(left, whole), left, whole);
  const Value last = b_.sub(b_.sub(end, b_.sub(begin, start)), f_.index_constant(1));
  const Value zero = b_.constant(kir::Type{register_scalar(type_)}, 0);
  b_.for_loop(f_.index(t_), b_.sub(elements, f_.index(selected)), f_.index_constant(c_.threads), {},
              [&](Value i, auto) {
                write(b_.sub(last, i), {zero, is_complex(type_) ? zero : Value{}});
                return kir::Builder::Values{};
              });
}

}  // namespace

BuiltKernel compaction_count_kernel(const BuildContext& c, const Compaction& compaction) {
  return CompactionKernel(c, compaction).count();
}

BuiltKernel compaction_starts_kernel(const BuildContext& c, const Compaction& compaction) {
  return CompactionKernel(c, compaction).starts();
}

BuiltKernel compaction_store_kernel(const BuildContext& c, const Compaction& compaction) {
  return CompactionKernel(c, compaction).store();
}

}  // namespace primset::schedule
