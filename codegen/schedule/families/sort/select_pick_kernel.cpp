// The kernels of a radix select that go through rows' counters and results.
#include <limits>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/families/scan/group_scan.h"
#include "codegen/schedule/families/sort/radix_select.h"
#include "codegen/schedule/families/sort/radix_tiles.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;

namespace {

// A workgroup a row, and a thread a digit.
class SelectRows {
 public:
  SelectRows(const BuildContext& c, const RadixSelect& select)
      : select_(select),
        node_(c.values.graph.node(select.rows.node)),
        f_(c.name, c.machine, c.index32, {select.rows.rows()}),
        b_(f_.builder()),
        t_(b_.local_id(0)) {
    b_.set_group_size(kDigits);
  }

  BuiltKernel clear();
  BuiltKernel pick(int shift, bool first);

 private:
  Affine digit(Value row) {
    return computed(b_.add(b_.mul(row, f_.index_constant(kDigits)), f_.index(t_)));
  }
  Value load(BufferId of, Value row) { return f_.load(of, DType::i32, computed(row)).re; }
  void store(BufferId to, const Affine& at, Value x) { f_.store(to, DType::i32, at, {x, {}}); }
  Value wanted(Value row, bool first);

  const RadixSelect& select_;
  const prims::Node& node_;
  Frame f_;
  kir::Builder& b_;
  const Value t_;
};

BuiltKernel SelectRows::clear() {
  for_each_by_groups(f_, select_.rows.rows(), [&](Value row) {
    store(select_.rows.totals, digit(row), b_.i32(0));
    b_.if_then(b_.ieq(t_, b_.i32(0)), [&] {
      store(select_.nans, computed(row), b_.i32(0));
      store(select_.found, computed(row), b_.i32(std::numeric_limits<int32_t>::max()));
    });
  });
  return built(std::move(f_));
}

// Of the elements with the digits found so far, which one it is: counted from 1. At first they are
// the whole row. Of an even number the median is the lower of both in the middle; the last one is
// NaN, if any is.
Value SelectRows::wanted(Value row, bool first) {
  if (!first) return load(select_.wanted, row);
  const auto narrow = [&](const SymInt& s) {
    return b_.int_resize(f_.param(s), kir::Scalar::i32, true);
  };
  if (node_.prim == prims::Prim::kth_value) return narrow(node_.attr<SymInt>("k"));
  const Value length = narrow(select_.rows.shape[select_.rows.dim]);
  const Value numbers = b_.sub(length, load(select_.nans, row));
  const Value usable =
      node_.attr<bool>("ignore_nan") ? b_.slt(b_.i32(0), numbers) : b_.ieq(numbers, length);
  const Value middle = b_.sub(numbers, b_.lshr(numbers, b_.i32(1)));
  return b_.select(usable, middle, length);
}

BuiltKernel SelectRows::pick(int shift, bool first) {
  const Value shifted = b_.scalar_param("shift", kI32);
  f_.step().scalars.push_back({ScalarParam::Source::integer, kI32, SymInt(shift), 0, 0});
  GroupScan scan(b_, GroupScan::sums(b_, {kI32}), kDigits);
  for_each_by_groups(f_, select_.rows.rows(), [&](Value row) {
    const Value count = f_.load(select_.rows.totals, DType::i32, digit(row)).re;
    const Value which = wanted(row, first);
    const DType prefix = select_.prefix_dtype();
    const kir::Scalar word = register_scalar(prefix);
    const Value before = scan.of({count}).exclusive[0];
    const Value left = b_.sub(which, before);
    b_.if_then(b_.and_(b_.slt(b_.i32(0), left), b_.sle(left, count)), [&] {
      Value found = b_.shl(b_.int_resize(t_, word, false), b_.int_resize(shifted, word, false));
      if (!first) found = b_.or_(found, f_.load(select_.prefix, prefix, computed(row)).re);
      f_.store(select_.prefix, prefix, computed(row), {found, {}});
      store(select_.wanted, computed(row), left);
    });
    store(select_.rows.totals, digit(row), b_.i32(0));
  });
  return built(std::move(f_));
}

}  // namespace

BuiltKernel select_clear_kernel(const BuildContext& c, const RadixSelect& select) {
  return SelectRows(c, select).clear();
}

BuiltKernel select_pick_kernel(const BuildContext& c, const RadixSelect& select, int shift,
                               bool first) {
  return SelectRows(c, select).pick(shift, first);
}

BuiltKernel select_store_kernel(const BuildContext& c, const RadixSelect& select) {
  const RadixSort& rows = select.rows;
  const auto dim = static_cast<std::ptrdiff_t>(rows.dim);
  SymInts domain = rows.shape;
  domain.erase(domain.begin() + dim);
  Frame f(c.name, c.machine, c.index32, domain);
  std::vector<size_t> order;
  for (size_t d = 0; d < domain.size(); ++d) order.push_back(d);
  for_each_point(f, separate_loops(domain, order), [&] {
    const Indices at = identity_indices(domain);
    const Placement places{select.found, dense_strides(domain), 0};
    const Value place = f.load(select.found, DType::i32, element_address(f, places, at)).re;
    Indices element = at;
    element.insert(element.begin() + dim, affine_index(computed(f.index(place))));
    const DType bits = sort_key_bits(rows.key);
    const ElementValue key =
        f.load(select.keys.buffer, bits, element_address(f, select.keys, element));
    for (const SortResult& r : select.results) {
      const Affine to = element_address(f, r.out, at);
      if (r.number == 0)
        f.store(r.out.buffer, bits, to, key);
      else
        f.store(r.out.buffer, DType::i64, to,
                {f.builder().int_resize(place, kir::Scalar::i64, true), {}});
    }
  });
  return built(std::move(f));
}

}  // namespace primset::schedule
