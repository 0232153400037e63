#include "codegen/schedule/loops/frame.h"

#include <algorithm>
#include <span>
#include <utility>

#include "codegen/schedule/element/scalar_lowering.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Type;
using kir::Value;

bool same_access(const AccessRecord& a, const AccessRecord& b) {
  return a.buffer == b.buffer && a.dtype == b.dtype && same(a.address, b.address);
}

Frame::Frame(std::string name, const Machine& machine, bool index32, SymInts domain)
    : machine_(machine),
      builder_(std::move(name), machine.target),
      index_type_(index32 ? kir::kI32 : kir::kI64),
      domain_(std::move(domain)) {
  analysis_.pinned.assign(domain_.size(), false);
}

// --- parameters ----------------------------------------------------------------------------------

Value Frame::buffer(BufferId id, bool read, bool written) {
  for (size_t i = 0; i < step_.buffers.size(); ++i) {
    BufferUse& use = step_.buffers[i];
    if (use.buffer != id) continue;
    use.read |= read;
    use.written |= written;
    for (kir::Param& p : builder_.kernel().params) {
      if (p.name != "b" + std::to_string(id)) continue;
      p.read |= read;
      p.written |= written;
    }
    return pointers_[i];
  }
  step_.buffers.push_back({id, read, written});
  pointers_.push_back(builder_.pointer_param("b" + std::to_string(id), read, written));
  return pointers_.back();
}

Value Frame::integer_param(const SymInt& s, Type type,
                           std::unordered_map<uint32_t, kir::Value>& known) {
  auto [it, fresh] = known.try_emplace(s.poly());
  if (fresh) {
    it->second = builder_.scalar_param("p" + std::to_string(step_.scalars.size()), type);
    step_.scalars.push_back({ScalarParam::Source::integer, type, s, 0, 0});
  }
  return it->second;
}

std::optional<Value> Frame::counted(const SymInt& s, Type type) {
  if (!counter_) return std::nullopt;
  const auto linear = s.context()->linear_in(s, counter_->symbol);
  counter_is_linear_ &= linear.has_value();
  if (!linear || linear->slope.same(SymInt(0))) return std::nullopt;
  const bool is_index = type == index_type_;
  const auto part = [&](const SymInt& p) {
    if (p.is_constant()) return builder_.constant(type, p.constant());
    return is_index ? param(p) : number_param(p);
  };
  const Value counter = builder_.int_resize(counter_->value, type.scalar, true);
  return builder_.add(part(linear->rest), builder_.mul(part(linear->slope), counter));
}

Value Frame::param(const SymInt& s) {
  if (s.is_constant()) return index_constant(s.constant());
  if (const auto v = counted(s, index_type_)) return *v;
  return integer_param(s, index_type_, params_);
}

Value Frame::number_param(const SymInt& s) {
  const bool wide = target().i64 && index_type_ != kir::kI64;
  if (!wide || s.is_constant()) return param(s);
  if (const auto v = counted(s, kir::kI64)) return *v;
  return integer_param(s, kir::kI64, number_params_);
}

ElementValue Frame::scalar_input(uint32_t graph_input, DType dtype) {
  // bool travels as i32; every other scalar in its register type widened to 32 bits at least.
  const kir::Scalar reg = register_scalar(dtype);
  const Type t{kir::width(reg) < 32 ? kir::Scalar::i32 : reg};
  auto passed = [&](uint8_t part) {
    step_.scalars.push_back({ScalarParam::Source::input, t, 0, graph_input, part});
    return builder_.scalar_param("s" + std::to_string(graph_input) + (part != 0 ? "i" : ""), t);
  };
  auto [it, fresh] = inputs_.try_emplace(graph_input);
  if (fresh) {
    it->second.re = passed(0);
    if (is_complex(dtype)) it->second.im = passed(1);
  }
  // Narrowed at each use: a register of one loop does not dominate the uses in another.
  auto narrow = [&](Value v) { return v.valid() && t.scalar != reg ? builder_.trunc(v, reg) : v; };
  return {narrow(it->second.re), narrow(it->second.im)};
}

// --- loop variables and indices ------------------------------------------------------------------

Value Frame::mask_and(Value condition) {
  return mask_.valid() ? builder_.and_(mask_, condition) : condition;
}

void Frame::set_loop_rest(Value rest) {
  loop_rest_ = rest;
  mask_ = loop_mask_ = rest.valid() ? builder_.active_lane_mask(rest, lanes_) : Value{};
}

Value Frame::any(Value condition) {
  const bool same_for_all = builder_.type(condition).lanes == 1;
  return builder_.any(same_for_all && mask_ == loop_mask_ ? condition : mask_and(condition));
}

Value Frame::materialize(const Affine& a) {
  for (size_t d = 0; d < domain_.size(); ++d) {
    if (!a.coefficient(d).same(SymInt(0))) analysis_.pinned[d] = true;
  }
  Place p = place(a);
  return vector_of(p);
}

Value Frame::vector_of(const Place& p) {
  if (p.lane_vector.valid()) return builder_.add(p.lane_vector, p.scalar);
  if (*p.lane_step == 0 || lanes_ == 1) return p.scalar;
  const Type t{index_type_.scalar, lanes_};
  Value steps = builder_.mul(builder_.lane_iota(t), index_constant(*p.lane_step));
  return builder_.add(steps, p.scalar);
}

Value Frame::first_of_consecutive(const Affine& a) {
  if (target().simt || lanes_ == 1) return {};
  const Place p = place(a);
  if (p.lane_vector.valid() || *p.lane_step != 1) return {};
  materialize(a);  // the dimensions that it uses are pinned
  return p.scalar;
}

Affine Frame::add(const Affine& a, const Affine& b) {
  Affine out = add_affine(a, b);
  for (const Affine* x : {&a, &b}) {
    if (!x->opaque.valid()) continue;
    out.opaque = out.opaque.valid() ? builder_.add(out.opaque, x->opaque) : x->opaque;
    const SymInts steps = x->opaque_steps.empty() ? SymInts{1} : x->opaque_steps;
    out.opaque_steps.insert(out.opaque_steps.end(), steps.begin(), steps.end());
  }
  return out;
}

Affine Frame::scale(const Affine& a, const SymInt& factor) {
  Affine out = a * factor;
  if (!a.opaque.valid()) return out;
  out.opaque = builder_.mul(a.opaque, param(factor));
  if (out.opaque_steps.empty()) out.opaque_steps = {1};
  for (SymInt& step : out.opaque_steps) step *= factor;
  return out;
}

// Splits an address into what all lanes share and how lanes differ. A merged loop is addressed
// through its innermost dimension, whose coefficient is that of the merged one. The constant part
// is added last, so that accesses that differ in it alone share the rest.
Frame::Place Frame::place(const Affine& address) {
  kir::Builder& b = builder_;
  Place out;
  out.lane_step = 0;
  const bool known = address.constant.is_constant();
  Value sum = known ? index_constant(0) : param(address.constant);
  for (const LoopDim& loop : loops_) {
    if (loop.dims.empty()) continue;
    const SymInt& c = address.coefficient(loop.dims.back());
    if (c.same(SymInt(0))) continue;
    sum = b.add(sum, b.mul(loop.base, param(c)));
    if (!loop.lanes || lanes_ == 1) continue;
    if (c.is_constant()) {
      out.lane_step = c.constant();
    } else {
      out.lane_vector = b.mul(b.lane_iota(Type{index_type_.scalar, lanes_}), param(c));
    }
  }
  if (address.opaque.valid()) {
    if (b.type(address.opaque).lanes == 1) {
      sum = b.add(sum, address.opaque);
    } else if (out.lane_vector.valid()) {
      out.lane_vector = b.add(out.lane_vector, address.opaque);
    } else {
      out.lane_vector = address.opaque;
      if (*out.lane_step != 0) {
        Value steps =
            b.mul(b.lane_iota(Type{index_type_.scalar, lanes_}), index_constant(*out.lane_step));
        out.lane_vector = b.add(out.lane_vector, steps);
      }
    }
  }
  out.scalar = known ? b.add(sum, param(address.constant)) : sum;
  return out;
}

// --- memory --------------------------------------------------------------------------------------

Value Frame::mask_vector() {
  const Type t{kir::Scalar::i1, lanes_};
  if (!mask_.valid()) return builder_.constant(t, 1);
  return builder_.type(mask_).lanes == lanes_ ? mask_ : builder_.splat(mask_, lanes_);
}

// A CPU's hardware prefetcher stops at each page boundary, which costs a loop with much arithmetic
// a miss or two a page. So vectors of half a cache line or more prefetch a page ahead. Not where
// vectors are narrow: there a loop has twice as many instructions already, and prefetching made an
// addition 3 to 7 % slower (measured on a Zen).
void Frame::prefetch_page_ahead(Value pointer, kir::Scalar elem, Value index, bool to_write) {
  constexpr int64_t kPage = 4096, kLine = 64;
  const int64_t size = kir::bytes(elem), vector = lanes_ * size;
  if (!prefetches() || vector < kLine / 2) return;
  for (int64_t line = 0; line < vector; line += kLine)
    builder_.prefetch(elem, pointer, index, static_cast<uint32_t>((kPage + line) / size), to_write);
}

void Frame::prefetch(BufferId id, DType dtype, const Affine& address) {
  constexpr size_t kLine = 64;
  const Place p = place(address);
  if (p.lane_vector.valid() || *p.lane_step != 1) return;
  const kir::Scalar elem = memory_scalar(real_type(dtype));
  const int64_t parts = is_complex(dtype) ? 2 : 1;
  const Value first = builder_.mul(p.scalar, index_constant(parts));
  for (size_t byte = 0; byte < lanes_ * byte_size(dtype); byte += kLine)
    builder_.prefetch(elem, buffer(id, true, false), first,
                      static_cast<uint32_t>(byte / kir::bytes(elem)), false);
}

// The alignment of a vector access.
static uint32_t vector_alignment(kir::Scalar elem, uint16_t lanes) {
  return std::min(kVectorBytes, static_cast<uint32_t>(kir::bytes(elem)) * lanes);
}

bool Frame::is_contiguous(const Place& p) const {
  return target().simt && lanes_ > 1 && !p.lane_vector.valid() && *p.lane_step == 1;
}

Value Frame::all_lanes_active() {
  return mask_ == all_active_mask_ ? all_active_ : builder_.and_(all_active_, builder_.all(mask_));
}

Value Frame::load_vector(Value pointer, kir::Scalar elem, Value index, uint16_t lanes) {
  const Type t{elem, lanes};
  auto load = [&] { return builder_.load(t, pointer, index, vector_alignment(elem, lanes)); };
  if (!mask_.valid()) return load();
  return builder_.if_else(
      mask_, [&] { return kir::Builder::Values{load()}; },
      [&] { return kir::Builder::Values{builder_.constant(t, 0)}; })[0];
}

void Frame::store_vector(Value pointer, Value index, Value v) {
  const Type t = builder_.type(v);
  auto store = [&] { builder_.store(pointer, index, v, vector_alignment(t.scalar, t.lanes)); };
  if (mask_.valid())
    builder_.if_then(mask_, store);
  else
    store();
}

// `stride` is 1, or 2 for one part of interleaved complex numbers.
Value Frame::load_part(Value pointer, DType dtype, const Place& p, int64_t stride, int64_t part) {
  kir::Builder& b = builder_;
  const kir::Scalar elem = memory_scalar(dtype);
  const auto align = static_cast<uint32_t>(kir::bytes(elem));
  auto scaled = [&](Value v) {
    return b.add(b.mul(v, index_constant(stride)), index_constant(part));
  };
  const bool uniform = !p.lane_vector.valid() && *p.lane_step == 0;
  if (lanes_ == 1 || uniform) {
    Value index =
        scaled(lanes_ == 1 && p.lane_vector.valid() ? b.add(p.scalar, p.lane_vector) : p.scalar);
    const auto load = [&] { return b.load(Type{elem}, pointer, index, align); };
    const bool some_lane = !mask_.valid() || mask_ == loop_mask_;
    if (!some_lane && strict_) {
      return b.if_else(
          b.any(mask_), [&] { return kir::Builder::Values{load()}; },
          [&] { return kir::Builder::Values{b.constant(Type{elem}, 0)}; })[0];
    }
    // A masked-off access may point anywhere: point it at the first element instead.
    if (!some_lane) index = b.select(b.any(mask_), index, index_constant(0));
    return load();
  }
  const Type t{elem, lanes_};
  if (target().simt && lanes_masked() && (!strict_ || mask_ == all_active_mask_)) {
    // An inactive lane reads another element, so that no lane needs a branch: the first lane's
    // where the mask is that of a row, whose first lane is active; else the buffer's first one.
    const Value lanes = vector_of(p);
    const Value other = mask_ == all_active_mask_ ? b.extract(lanes, 0) : index_constant(0);
    Value at = scaled(b.select(mask_, lanes, b.splat(other, lanes_)));
    return b.gather(t, pointer, at, b.constant(t.with_scalar(kir::Scalar::i1), 1), b.constant(t, 0),
                    align);
  }
  if (!p.lane_vector.valid() && *p.lane_step == 1 && stride == 1) {
    prefetch_page_ahead(pointer, elem, p.scalar, false);
    if (!mask_.valid()) return b.load(t, pointer, p.scalar, align);
    return b.masked_load(t, pointer, p.scalar, mask_vector(), b.constant(t, 0), align);
  }
  if (const Value v = load_neighbours(pointer, elem, p, stride); v.valid()) return v;
  return b.gather(t, pointer, scaled(vector_of(p)), mask_vector(), b.constant(t, 0), align);
}

// Lanes of a CPU's vector that are every other element, or that go backwards, are parts of vectors
// of neighbours, which takes far less time than gathering them. Invalid: they are neither.
Value Frame::load_neighbours(Value pointer, kir::Scalar elem, const Place& p, int64_t stride) {
  kir::Builder& b = builder_;
  if (target().simt || p.lane_vector.valid() || stride != 1) return {};
  const auto align = static_cast<uint32_t>(kir::bytes(elem));
  const Type t{elem, lanes_};
  const Value mask = mask_vector(), zero = b.constant(t, 0);
  std::vector<uint16_t> lanes;
  if (*p.lane_step == -1) {
    for (uint16_t l = lanes_; l-- > 0;) lanes.push_back(l);
    const Value first = b.sub(p.scalar, index_constant(lanes_ - 1));
    const Value v =
        mask_.valid() ? b.masked_load(t, pointer, first, b.shuffle(mask, mask, lanes), zero, align)
                      : b.load(t, pointer, first, align);
    return b.shuffle(v, v, lanes);
  }
  if (*p.lane_step != 2) return {};
  for (uint16_t l = 0; l < lanes_; ++l) lanes.push_back(static_cast<uint16_t>(2 * l));
  // The lanes of this half of them, of which every other one lies between two of ours and is not
  // looked at.
  const Value none = b.constant(Type{kir::Scalar::i1, lanes_}, 0);
  const auto half = [&](uint16_t from) {
    std::vector<uint16_t> spread;
    for (uint16_t l = 0; l < lanes_; l += 2) {
      spread.push_back(static_cast<uint16_t>(from + l / 2));
      spread.push_back(lanes_);
    }
    const Value at = b.add(p.scalar, index_constant(2 * from));
    return b.masked_load(t, pointer, at, b.shuffle(mask, none, spread), zero, align);
  };
  const auto middle = static_cast<uint16_t>(lanes_ / 2);
  return b.shuffle(half(0), half(middle), lanes);
}

// `stride` and `part` as in load_part().
void Frame::store_part(Value pointer, DType dtype, const Place& p, int64_t stride, int64_t part,
                       Value v) {
  kir::Builder& b = builder_;
  const auto align = static_cast<uint32_t>(kir::bytes(memory_scalar(dtype)));
  auto scaled = [&](Value i) {
    return b.add(b.mul(i, index_constant(stride)), index_constant(part));
  };
  if (lanes_ == 1) {
    Value index = scaled(p.lane_vector.valid() ? b.add(p.scalar, p.lane_vector) : p.scalar);
    if (!mask_.valid()) {
      b.store(pointer, index, v, align);
    } else {
      b.if_then(mask_, [&] { b.store(pointer, index, v, align); });
    }
    return;
  }
  if (b.type(v).lanes == 1) v = b.splat(v, lanes_);
  if (!p.lane_vector.valid() && *p.lane_step == 1 && stride == 1) {
    prefetch_page_ahead(pointer, memory_scalar(dtype), p.scalar, true);
    if (!mask_.valid())
      b.store(pointer, p.scalar, v, align);
    else
      b.masked_store(pointer, p.scalar, v, mask_vector(), align);
    return;
  }
  Value at = vector_of(p);
  if (b.type(at).lanes == 1) at = b.splat(at, lanes_);
  b.scatter(pointer, scaled(at), v, mask_vector(), align);
}

Frame::Place Frame::touch(BufferId id, DType dtype, const Affine& address, bool store) {
  Place p = place(address);
  LaneAccess lanes = LaneAccess::same;
  if (p.lane_vector.valid())
    lanes = address.opaque.valid() && builder_.type(address.opaque).lanes > 1 ? LaneAccess::gathered
                                                                              : LaneAccess::strided;
  else if (*p.lane_step != 0)
    lanes = *p.lane_step == 1 ? LaneAccess::contiguous : LaneAccess::strided;
  analysis_.accesses.push_back({id, address, store, dtype, lanes, mask_.valid(), lanes_masked()});
  return p;
}

// Do the lanes of a CPU's vector have complex elements side by side, forwards or backwards?
bool Frame::has_pairs(DType dtype, const Place& p) const {
  return is_complex(dtype) && !target().simt && lanes_ > 1 && lanes_ <= 32 &&
         !p.lane_vector.valid() && (*p.lane_step == 1 || *p.lane_step == -1);
}

// The lanes in the order of memory, each as often as it is said.
static std::vector<uint16_t> memory_lanes(uint16_t lanes, bool backwards, int times) {
  std::vector<uint16_t> out;
  for (uint16_t l = 0; l < lanes; ++l)
    out.insert(out.end(), static_cast<size_t>(times),
               backwards ? static_cast<uint16_t>(lanes - 1 - l) : l);
  return out;
}

// The first pair in memory, and which pairs are meant; an invalid mask: all.
Frame::Pairs Frame::pairs_at(const Place& p) {
  kir::Builder& b = builder_;
  const bool backwards = *p.lane_step < 0;
  const Value first = backwards ? b.sub(p.scalar, index_constant(lanes_ - 1)) : p.scalar;
  Pairs out{b.mul(first, index_constant(2)), {}, backwards};
  if (!mask_.valid()) return out;
  // A processor compares numbers with the lanes' faster than it moves bits of a mask.
  if (mask_ == loop_mask_ && loop_rest_.valid() && !backwards) {
    out.mask =
        b.active_lane_mask(b.mul(loop_rest_, index_constant(2)), static_cast<uint16_t>(2 * lanes_));
    return out;
  }
  const Value mask = mask_vector();
  out.mask = b.shuffle(mask, mask, memory_lanes(lanes_, backwards, 2));
  return out;
}

std::vector<Value> Frame::load_pairs(Value pointer, kir::Scalar elem, const Place& p) {
  kir::Builder& b = builder_;
  const Type t{elem, static_cast<uint16_t>(2 * lanes_)};
  const Pairs at = pairs_at(p);
  const auto align = static_cast<uint32_t>(kir::bytes(elem));
  const Value pairs = at.mask.valid()
                          ? b.masked_load(t, pointer, at.first, at.mask, b.constant(t, 0), align)
                          : b.load(t, pointer, at.first, align);
  std::vector<uint16_t> even, odd;
  for (uint16_t l : memory_lanes(lanes_, at.backwards, 1))
    even.push_back(static_cast<uint16_t>(2 * l)), odd.push_back(static_cast<uint16_t>(2 * l + 1));
  return {b.shuffle(pairs, pairs, even), b.shuffle(pairs, pairs, odd)};
}

void Frame::store_pairs(Value pointer, const Place& p, const ElementValue& value) {
  kir::Builder& b = builder_;
  const auto lanes = [&](Value v) { return b.type(v).lanes == 1 ? b.splat(v, lanes_) : v; };
  const Pairs at = pairs_at(p);
  std::vector<uint16_t> alternate;
  for (uint16_t l : memory_lanes(lanes_, at.backwards, 1))
    alternate.push_back(l), alternate.push_back(static_cast<uint16_t>(lanes_ + l));
  const Value pairs = b.shuffle(lanes(value.re), lanes(value.im), alternate);
  const auto align = static_cast<uint32_t>(kir::bytes(b.type(pairs).scalar));
  if (at.mask.valid())
    b.masked_store(pointer, at.first, pairs, at.mask, align);
  else
    b.store(pointer, at.first, pairs, align);
}

// A complex element's parts, as memory has them. Where a CPU computes where its lanes' elements
// are, or how far apart, they are mostly neighbours: a vector of a sliced array's row, say.
std::vector<Value> Frame::load_parts(Value pointer, DType dtype, const Place& p) {
  kir::Builder& b = builder_;
  if (target().simt || lanes_ == 1 || !p.lane_vector.valid())
    return load_elements(pointer, dtype, p);
  const Value at = vector_of(p), first = b.extract(at, 0);
  const Value neighbours = b.add(b.lane_iota(b.type(at)), first);
  const Place together{first, 1, {}};
  return b.if_else(
      b.all(b.ieq(at, neighbours)), [&] { return load_elements(pointer, dtype, together); },
      [&] { return load_elements(pointer, dtype, p); });
}

std::vector<Value> Frame::load_elements(Value pointer, DType dtype, const Place& p) {
  const DType real = real_type(dtype);
  if (!is_complex(dtype)) return {load_part(pointer, real, p, 1, 0)};
  if (has_pairs(dtype, p)) return load_pairs(pointer, memory_scalar(real), p);
  return {load_part(pointer, real, p, 2, 0), load_part(pointer, real, p, 2, 1)};
}

void Frame::store_parts(Value pointer, DType dtype, const Place& p, const ElementValue& value) {
  const DType real = real_type(dtype);
  if (has_pairs(dtype, p)) return store_pairs(pointer, p, value);
  store_part(pointer, real, p, is_complex(dtype) ? 2 : 1, 0, value.re);
  if (is_complex(dtype)) store_part(pointer, real, p, 2, 1, value.im);
}

std::vector<Value> Frame::load_vectors(Value pointer, DType dtype, const Place& p) {
  const kir::Scalar elem = memory_scalar(real_type(dtype));
  if (!is_complex(dtype)) return {load_vector(pointer, elem, p.scalar, lanes_)};
  const auto n = static_cast<uint16_t>(2 * lanes_);
  Value pairs = load_vector(pointer, elem, builder_.mul(p.scalar, index_constant(2)), n);
  std::vector<uint16_t> even, odd;
  for (uint16_t l = 0; l < n; l += 2) even.push_back(l), odd.push_back(l + 1);
  return {builder_.shuffle(pairs, pairs, even), builder_.shuffle(pairs, pairs, odd)};
}

void Frame::store_vectors(Value pointer, DType dtype, const Place& p, const ElementValue& value) {
  auto lanes = [&](Value v) { return builder_.type(v).lanes == 1 ? builder_.splat(v, lanes_) : v; };
  if (!is_complex(dtype)) return store_vector(pointer, p.scalar, lanes(value.re));
  std::vector<uint16_t> alternate;
  for (uint16_t l = 0; l < lanes_; ++l)
    alternate.push_back(l), alternate.push_back(static_cast<uint16_t>(lanes_ + l));
  store_vector(pointer, builder_.mul(p.scalar, index_constant(2)),
               builder_.shuffle(lanes(value.re), lanes(value.im), alternate));
}

// `body`, run without the mask.
template <typename Body>
auto Frame::unmasked(Body body) {
  return [this, body] {
    const Value mask = std::exchange(mask_, Value{});
    struct Restore {
      Value& at;
      Value mask;
      ~Restore() { at = mask; }
    } restore{mask_, mask};
    return body();
  };
}

std::vector<Value> Frame::fetch(const AccessRecord& a) {
  Value pointer = buffer(a.buffer, true, false);
  strict_ = false;
  return load_parts(pointer, a.dtype, touch(a.buffer, a.dtype, a.address, false));
}

ElementValue Frame::load(BufferId id, DType dtype, const Affine& address, bool strict) {
  strict_ = strict;
  const DType real = real_type(dtype);
  auto element = [&](std::span<const Value> parts) {
    ElementValue out{from_memory(builder_, parts[0], real), {}};
    if (is_complex(dtype)) out.im = from_memory(builder_, parts[1], real);
    return out;
  };
  const AccessRecord access{id, address, false, dtype, LaneAccess::same, false, false};
  if (forward_load_) {
    const auto forwarded = forward_load_(access);
    if (!forwarded.empty()) return element(forwarded);
  }
  Value pointer = buffer(id, true, false);
  Place p = touch(id, dtype, address, false);
  auto vectors = [&] { return load_vectors(pointer, dtype, p); };
  auto parts = [&] { return load_parts(pointer, dtype, p); };
  std::vector<Value> in;
  if (is_contiguous(p) && may_be_all_active())
    in = builder_.if_else(all_lanes_active(), unmasked(vectors), parts);
  else
    in = is_contiguous(p) && !lanes_masked() ? vectors() : parts();
  if (on_load_) on_load_(access, in);
  return element(in);
}

void Frame::put(const AccessRecord& a, const std::vector<Value>& element) {
  Value pointer = buffer(a.buffer, false, true);
  const ElementValue value{element[0], element.size() > 1 ? element[1] : Value{}};
  store_parts(pointer, a.dtype, touch(a.buffer, a.dtype, a.address, true), value);
}

void Frame::store(BufferId id, DType dtype, const Affine& address, const ElementValue& value) {
  const DType real = real_type(dtype);
  ElementValue out{to_memory(builder_, value.re, real), {}};
  if (is_complex(dtype)) out.im = to_memory(builder_, value.im, real);
  if (forward_store_) {
    std::vector<Value> element{out.re};
    if (out.im.valid()) element.push_back(out.im);
    const AccessRecord access{id, address, true, dtype, LaneAccess::same, false, false};
    if (forward_store_(access, element)) return;
  }
  Value pointer = buffer(id, false, true);
  Place p = touch(id, dtype, address, true);
  auto vectors = [&] { store_vectors(pointer, dtype, p, out); };
  auto parts = [&] { store_parts(pointer, dtype, p, out); };
  if (is_contiguous(p) && may_be_all_active()) {
    auto nothing = [](auto body) {
      return [body] {
        body();
        return kir::Builder::Values{};
      };
    };
    builder_.if_else(all_lanes_active(), nothing(unmasked(vectors)), nothing(parts));
  } else if (is_contiguous(p) && !lanes_masked()) {
    vectors();
  } else {
    parts();
  }
}

// --- errors --------------------------------------------------------------------------------------

namespace {

// The value as the error slot has it (ErrorSlot): an i64, or the i32 that a target without i64 has.
Value reported_bits(kir::Builder& b, Value value, DType dtype) {
  const kir::Scalar wide = b.target().i64 ? kir::Scalar::i64 : kir::Scalar::i32;
  if (dtype == DType::boolean) return b.zext(value, wide);
  if (!is_floating(dtype)) return b.int_resize(value, wide, is_signed_integer(dtype));
  const bool is_double = b.type(value).scalar == kir::Scalar::f64;
  return b.bitcast(is_double ? value : b.fpext(value, kir::Scalar::f64), wide);
}

// One of the offending values serves the message: the greatest.
Value greatest(kir::Builder& b, Value values, Value bad) {
  const uint16_t n = std::max(b.type(bad).lanes, b.type(values).lanes);
  if (n == 1) return values;
  if (b.type(values).lanes == 1) values = b.splat(values, n);
  const kir::Scalar s = b.type(values).scalar;
  const int64_t least = s == kir::Scalar::i64 ? INT64_MIN : INT32_MIN;
  Value found = b.select(bad, values, b.constant(Type{s, n}, least));
  for (uint16_t half = n / 2; half > 0; half /= 2) {
    std::vector<uint16_t> lanes;
    for (uint16_t l = 0; l < n; ++l) lanes.push_back(static_cast<uint16_t>(l ^ half));
    const Value other = b.shuffle(found, found, lanes);
    found = b.select(b.slt(found, other), other, found);
  }
  return b.extract(found, 0);
}

}  // namespace

void Frame::report(uint32_t site, Value bad, Value value, DType value_dtype) {
  kir::Builder& b = builder_;
  if (!error_buffer_) throw Error(ErrorCode::internal, "a check in a kernel without an error slot");
  Value slot = buffer(*error_buffer_, true, true);
  if (!error_base_.valid()) {
    error_base_ = b.scalar_param("error_base", kir::kI32);
    step_.scalars.push_back({ScalarParam::Source::error_base, kir::kI32, 0, 0, 0});
  }
  b.if_then(any(bad), [&] {
    bad = mask_and(bad);
    const Value shown = greatest(b, reported_bits(b, value, value_dtype), bad);
    Value old = b.atomic_cas(slot, b.i32(0), b.i32(0),
                             b.add(error_base_, b.i32(static_cast<int64_t>(site) + 1)), 4);
    b.if_then(b.ieq(old, b.i32(0)), [&] {
      if (b.target().i64) return b.store(slot, b.i32(1), shown, 8);
      // The slot's value is an i64: two words.
      b.store(slot, b.i32(2), shown, 4);
      b.store(slot, b.i32(3), b.ashr(shown, b.i32(31)), 4);
    });
  });
}

}  // namespace primset::schedule
