#include "codegen/schedule/testing/random/random_values.h"

#include <algorithm>
#include <string>

#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;
using Values = prims::Builder::Values;

RandomValues::RandomValues(prims::Builder& b, Random& random) : b_(b), random_(random) {
  choose_sizes();
  choose_shapes();
  choose_dtypes();
}

// --- sizes and dtypes ----------------------------------------------------------------------------

// 0 and 1 are always known when a plan is made.
void RandomValues::choose_sizes() {
  const std::vector<int64_t> known = {1, 2, 2, 3, 3, 7, 7, 33, 130};
  const uint64_t symbols = random_.pick(std::vector<uint64_t>{0, 50, 100});
  const size_t count = 2 + random_.below(3);
  for (size_t i = 0; i < count; ++i) {
    const int64_t n = random_.chance(2) ? 0 : random_.pick(known);
    const bool symbol = n > 1 && random_.chance(symbols);
    sizes_.push_back(symbol ? b_.graph().context().symbol("s" + std::to_string(i), n, 2)
                            : SymInt(n));
  }
}

void RandomValues::choose_shapes() {
  const size_t count = 2 + random_.below(3);
  while (shapes_.size() < count) {
    SymInts shape;
    const size_t rank = random_.pick(std::vector<size_t>{0, 1, 1, 2, 2, 2, 3, 3, 4});
    for (size_t d = 0; d < rank; ++d) shape.push_back(any_size());
    if (elements(shape) <= 1000) shapes_.push_back(std::move(shape));
  }
}

void RandomValues::choose_dtypes() {
  using enum DType;
  const std::vector<DType> usual = {i32, i32, i32, i64, i64,  f32,     f32, f32, f64,
                                    u8,  i8,  i16, f16, bf16, boolean, c64, u32};
  for (int i = 0; i < 3; ++i) dtypes_.push_back(random_.pick(usual));
}

DType RandomValues::any_dtype(DTypeSet set) {
  std::vector<DType> fitting;
  for (DType t : dtypes_) {
    if (set.contains(t)) fitting.push_back(t);
  }
  if (!fitting.empty() && random_.chance(90)) return random_.pick(fitting);
  fitting.clear();
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    if (set.contains(t)) fitting.push_back(t);
  }
  return random_.pick(fitting);
}

SymInt RandomValues::launch_number(int64_t value) {
  if (!random_.chance(20)) return value;
  prims::SymContext& context = b_.graph().context();
  return context.symbol("n" + std::to_string(context.symbol_count()), value, 0);
}

// Sizes made of a dynamic one change with it.
bool RandomValues::is_dynamic(const SymInt& size) const {
  if (size.is_constant() || dynamic_.empty()) return false;
  const prims::SymContext& context = b_.graph().context();
  std::vector<int64_t> values;
  for (size_t s = 0; s < context.symbol_count(); ++s) values.push_back(context.symbol_hint(s));
  for (int64_t least : {0, 1}) {
    for (uint32_t s : dynamic_) values[s] = least;
    if (context.evaluate(size.poly(), values) != size.hint()) return true;
  }
  return false;
}

bool RandomValues::is_dynamic(const SymInts& shape) const {
  return std::ranges::any_of(shape, [&](const SymInt& s) { return is_dynamic(s); });
}

int64_t RandomValues::elements(const SymInts& shape) {
  int64_t n = 1;
  for (const SymInt& s : shape) n *= std::max<int64_t>(1, s.hint());
  return n;
}

std::vector<int64_t> RandomValues::any_dims(size_t rank, size_t most) {
  std::vector<int64_t> dims;
  const size_t count = 1 + random_.below(std::min(rank, most));
  while (dims.size() < count) {
    const auto d = static_cast<int64_t>(random_.below(rank));
    if (std::ranges::find(dims, d) == dims.end()) dims.push_back(d);
  }
  std::ranges::sort(dims);
  return dims;
}

// --- values --------------------------------------------------------------------------------------

ValueId RandomValues::late(const std::vector<ValueId>& candidates) {
  constexpr size_t kLate = 4;
  const size_t n = candidates.size();
  if (n > kLate && random_.chance(60)) return candidates[n - 1 - random_.below(kLate)];
  return random_.pick(candidates);
}

std::optional<ValueId> RandomValues::any(const Wanted& wanted) {
  const ValueId suggested = std::exchange(suggested_, prims::kNoValue);
  if (suggested != prims::kNoValue && wanted(suggested)) return suggested;
  std::vector<ValueId> candidates;
  for (ValueId v : scope_) {
    if (wanted(v)) candidates.push_back(v);
  }
  if (candidates.empty()) return std::nullopt;
  return late(candidates);
}

std::optional<ValueId> RandomValues::any(DTypeSet dtypes, size_t least_rank) {
  return any([&](ValueId v) { return dtypes.contains(dtype(v)) && rank(v) >= least_rank; });
}

namespace {

bool same_sizes(const SymInts& a, const SymInts& b) {
  return std::ranges::equal(a, b, [](const SymInt& x, const SymInt& y) { return x.same(y); });
}

// A scalar of the dtype: small, and a value that the dtype holds.
Scalar scalar_of(DType t, Random& random) {
  if (is_bool(t)) return Scalar(random.chance(50));
  if (is_unsigned_integer(t)) return Scalar(random.between(0, 5));
  if (is_integral(t)) return Scalar(random.between(-5, 5));
  return Scalar(static_cast<double>(random.between(-8, 8)) / 4);
}

}  // namespace

ValueId RandomValues::like(DType t, const SymInts& shape) {
  const auto found =
      any([&](ValueId v) { return dtype(v) == t && same_sizes(b_.shape(v), shape); });
  if (found && random_.chance(85)) return *found;
  std::optional<ValueId> v;
  for (int attempt = 0; attempt < 2 && !v; ++attempt) {
    switch (random_.below(4)) {
      case 0:
        v = converted(t, shape);
        break;
      case 1:
        v = broadcast(t, shape);
        break;
      case 2:
        v = sliced(t, shape);
        break;
      default:
        break;
    }
  }
  return v ? *v : found ? *found : made(t, shape);
}

std::optional<ValueId> RandomValues::converted(DType t, const SymInts& shape) {
  const auto from = any([&](ValueId v) {
    // What an integer cannot hold becomes some number.
    const bool fits = is_exact(v) || !is_integral(t) || !is_floating(dtype(v));
    return dtype(v) != t && fits && same_sizes(b_.shape(v), shape);
  });
  if (!from) return std::nullopt;
  return add(Prim::convert, {*from}, {{"dtype", t}})[0];
}

// The dims of the result that those of a value may become: each the first that fits.
std::optional<ValueId> RandomValues::broadcast(DType t, const SymInts& shape) {
  if (shape.empty()) return std::nullopt;
  const auto placed = [&](ValueId v) {
    std::vector<int64_t> dims;
    size_t next = 0;
    for (const SymInt& size : b_.shape(v)) {
      while (next < shape.size() && !size.same(shape[next]) && !size.same(SymInt(1))) ++next;
      if (next == shape.size()) break;
      dims.push_back(static_cast<int64_t>(next++));
    }
    return dims;
  };
  const auto from = any([&](ValueId v) {
    return dtype(v) == t && !same_sizes(b_.shape(v), shape) && placed(v).size() == rank(v);
  });
  if (!from) return std::nullopt;
  return add(Prim::broadcast_in_dim, {*from}, {{"shape", shape}, {"dims", placed(*from)}})[0];
}

std::optional<ValueId> RandomValues::sliced(DType t, const SymInts& shape) {
  if (shape.empty() || is_dynamic(shape)) return std::nullopt;
  const auto from = any([&](ValueId v) {
    if (dtype(v) != t || rank(v) != shape.size() || is_dynamic(b_.shape(v))) return false;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (b_.shape(v)[d].hint() < shape[d].hint()) return false;
    }
    return true;
  });
  if (!from) return std::nullopt;
  SymInts start, limit;
  for (size_t d = 0; d < shape.size(); ++d) {
    const SymInt& size = b_.shape(*from)[d];
    start.push_back(launch_number(random_.between(0, size.hint() - shape[d].hint())));
    limit.push_back(start[d] + shape[d]);
  }
  return add(Prim::slice, {*from},
             {{"start", start}, {"limit", limit}, {"stride", SymInts(shape.size(), 1)}})[0];
}

ValueId RandomValues::made(DType t, const SymInts& shape) {
  const bool number = is_integral(t) || (is_floating(t) && !is_float8(t));
  if (scalar_ || random_.chance(20)) return constant(t, shape);
  if (!shape.empty() && number && random_.chance(30)) {
    const auto dim = static_cast<int64_t>(random_.below(shape.size()));
    return add(Prim::iota, {}, {{"shape", shape}, {"dim", dim}, {"dtype", t}})[0];
  }
  constexpr size_t kMostInputs = 7;
  if (b_.graph().inputs.size() >= kMostInputs || is_dynamic(shape)) return constant(t, shape);
  return tensor_input(t, shape);
}

ValueId RandomValues::tensor_input(DType t, const SymInts& shape) {
  const std::string name = "x" + std::to_string(b_.graph().inputs.size());
  const bool number = shape.empty() && !is_float8(t) && t != DType::c32 && random_.chance(50);
  const ValueId v = number ? b_.scalar_input(name, t) : b_.tensor_input(name, {t, shape});
  note(v, true);
  return v;
}

ValueId RandomValues::constant(DType t, const SymInts& shape) {
  return add(Prim::constant, {},
             {{"value", scalar_of(t, random_)}, {"dtype", t}, {"shape", shape}})[0];
}

ValueId RandomValues::indices(const SymInts& shape, const SymInt& size) {
  const DType t = any_dtype({DType::i32, DType::i64});
  const ValueId raw = like(t, shape);
  const auto number = [&](const SymInt& n) {
    return add(Prim::constant, {}, {{"value", n}, {"dtype", t}, {"shape", shape}})[0];
  };
  const ValueId least = add(Prim::max, {raw, number(0)})[0];
  return add(Prim::min, {least, number(size - 1)})[0];
}

ValueId RandomValues::exact_like(DType t, const SymInts& shape) {
  const auto found = any(
      [&](ValueId v) { return is_exact(v) && dtype(v) == t && same_sizes(b_.shape(v), shape); });
  if (found) return *found;
  const auto other = any([&](ValueId v) {
    return is_exact(v) && !is_complex(dtype(v)) && same_sizes(b_.shape(v), shape);
  });
  if (other) return add(Prim::convert, {*other}, {{"dtype", t}})[0];
  return constant(t, shape);
}

// --- nodes ---------------------------------------------------------------------------------------

Values RandomValues::add(Prim p, Values operands, std::vector<prims::Attr> attrs,
                         std::vector<prims::Region> regions) {
  bool exact = regions.empty();
  for (ValueId v : operands) exact = exact && is_exact(v);
  const prims::PrimTraits& traits = prims::traits(p);
  // Of equal places that are written one wins, and what is behind a count is anything.
  exact = exact && traits.pattern != prims::OpPattern::scatter;
  const size_t symbols = b_.graph().context().symbol_count();
  const Values results = b_.add(p, std::move(operands), std::move(attrs), std::move(regions));
  for (size_t s = symbols; s < b_.graph().context().symbol_count(); ++s)
    dynamic_.push_back(static_cast<uint32_t>(s));
  for (size_t i = 0; i < results.size(); ++i) {
    const DType t = dtype(results[i]);
    const bool rounds = !traits.exact && (is_floating(t) || is_complex(t));
    note(results[i], exact && !rounds && (p != Prim::compact || i == 1));
  }
  return results;
}

void RandomValues::note(ValueId v, bool exact) {
  if (std::ranges::find(scope_, v) == scope_.end()) scope_.push_back(v);
  if (exact_.size() <= v) exact_.resize(v + 1);
  exact_[v] = exact;
}

prims::Region RandomValues::region(const std::vector<prims::ValueType>& params, const Body& body) {
  return b_.region(params, [&](std::span<const ValueId> made) {
    const size_t outside = scope_.size();
    for (ValueId v : made) note(v, false);
    ++depth_;
    Values results = body(made);
    --depth_;
    // Inputs that were made within belong to the whole graph.
    std::vector<ValueId> inputs;
    for (size_t i = outside; i < scope_.size(); ++i) {
      for (const prims::Input& in : b_.graph().inputs) {
        if (in.value == scope_[i]) inputs.push_back(in.value);
      }
    }
    scope_.resize(outside);
    scope_.insert(scope_.end(), inputs.begin(), inputs.end());
    return results;
  });
}

prims::Region RandomValues::scalar_region(const std::vector<prims::ValueType>& params,
                                          const Body& body) {
  const std::vector<ValueId> outside = std::exchange(scope_, {});
  const bool scalar = std::exchange(scalar_, true);
  prims::Region r = region(params, body);
  scalar_ = scalar;
  scope_ = outside;
  return r;
}

}  // namespace primset::schedule
