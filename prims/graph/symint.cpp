#include "prims/graph/symint.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

#include "primset/error.h"
#include "sdk/base/floor_mod.h"

namespace primset::prims {
namespace {

using Poly = SymContext::Poly;
using Term = SymContext::Term;

// Sizes may be anything a caller says. One that wrapped would be taken for a small one, and memory
// outside of a tensor for its own.
[[noreturn]] void overflow() {
  throw Error(ErrorCode::runtime,
              "a size, stride or offset does not fit 64 bits; expected less than 2**63");
}
int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow();
  return sum;
}
int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow();
  return product;
}

int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == -1) return multiply(a, -1);
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

int64_t ceil_log2_int(int64_t a) {
  return a <= 1 ? 0 : 64 - std::countl_zero(static_cast<uint64_t>(a) - 1);
}

SymContext* context_of(const SymInt& a, const SymInt& b) {
  return a.context() ? a.context() : b.context();
}

Poly constant_poly(int64_t v) {
  if (v == 0) return {};
  return {Term{v, {}}};
}

std::optional<int64_t> as_constant(const Poly& p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p[0].atoms.empty()) return p[0].coefficient;
  return std::nullopt;
}

Poly normalize(Poly p) {
  std::sort(p.begin(), p.end(), [](const Term& a, const Term& b) { return a.atoms < b.atoms; });
  Poly out;
  for (Term& t : p) {
    if (!out.empty() && out.back().atoms == t.atoms) {
      out.back().coefficient = add(out.back().coefficient, t.coefficient);
    } else {
      if (!out.empty() && out.back().coefficient == 0) out.pop_back();
      out.push_back(std::move(t));
    }
  }
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  return out;
}

Poly add_polys(const Poly& a, const Poly& b, int64_t scale_b) {
  Poly out = a;
  for (const Term& t : b) out.push_back({multiply(t.coefficient, scale_b), t.atoms});
  return normalize(std::move(out));
}

Poly mul_polys(const Poly& a, const Poly& b) {
  Poly out;
  for (const Term& x : a) {
    for (const Term& y : b) {
      Term t{multiply(x.coefficient, y.coefficient), x.atoms};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end());
      out.push_back(std::move(t));
    }
  }
  return normalize(std::move(out));
}

// a / b when b is a single term that divides every term of a exactly.
std::optional<Poly> exact_quotient(const Poly& a, const Poly& b) {
  if (b.size() != 1) return std::nullopt;
  Poly out;
  for (const Term& t : a) {
    int64_t quotient = floor_div_int(t.coefficient, b[0].coefficient);
    if (multiply(quotient, b[0].coefficient) != t.coefficient) return std::nullopt;
    Term q{quotient, {}};
    if (!std::includes(t.atoms.begin(), t.atoms.end(), b[0].atoms.begin(), b[0].atoms.end())) {
      return std::nullopt;
    }
    std::set_difference(t.atoms.begin(), t.atoms.end(), b[0].atoms.begin(), b[0].atoms.end(),
                        std::back_inserter(q.atoms));
    out.push_back(std::move(q));
  }
  return normalize(std::move(out));
}

std::string key_of(const Poly& p) {
  std::string key;
  for (const Term& t : p) {
    key.append(reinterpret_cast<const char*>(&t.coefficient), sizeof(t.coefficient));
    auto n = static_cast<uint32_t>(t.atoms.size());
    key.append(reinterpret_cast<const char*>(&n), sizeof(n));
    key.append(reinterpret_cast<const char*>(t.atoms.data()), n * sizeof(uint32_t));
  }
  return key;
}

}  // namespace

SymContext::SymContext() = default;
SymContext::~SymContext() = default;

SymInt SymContext::symbol(std::string name, int64_t hint, int64_t lower) {
  auto index = static_cast<uint32_t>(symbols_.size());
  symbols_.push_back({std::move(name), hint, lower});
  uint32_t a = intern_atom({AtomKind::symbol, index, {}, {}});
  return intern({Term{1, {a}}});
}

size_t SymContext::symbol_count() const {
  return symbols_.size();
}
const std::string& SymContext::symbol_name(size_t index) const {
  return symbols_[index].name;
}
int64_t SymContext::symbol_hint(size_t index) const {
  return symbols_[index].hint;
}
int64_t SymContext::symbol_lower(size_t index) const {
  return symbols_[index].lower;
}

std::optional<uint32_t> SymContext::as_symbol(const SymInt& s) const {
  if (s.is_constant()) return std::nullopt;
  const Poly& p = polys_[s.poly()];
  if (p.size() != 1 || p[0].coefficient != 1 || p[0].atoms.size() != 1) return std::nullopt;
  const Atom& a = atoms_[p[0].atoms[0]];
  if (a.kind != AtomKind::symbol) return std::nullopt;
  return a.symbol;
}

SymInt SymContext::intern(Poly poly) {
  if (auto c = as_constant(poly)) return SymInt(*c);
  auto [it, fresh] = poly_index_.try_emplace(key_of(poly), static_cast<uint32_t>(polys_.size()));
  if (fresh) {
    poly_hints_.push_back(hint_of(poly));
    polys_.push_back(std::move(poly));
  }
  return SymInt(this, it->second);
}

uint32_t SymContext::intern_atom(Atom atom) {
  std::string key(1, static_cast<char>(atom.kind));
  key.append(reinterpret_cast<const char*>(&atom.symbol), sizeof(atom.symbol));
  std::string lhs = key_of(atom.lhs);
  auto n = static_cast<uint32_t>(lhs.size());
  key.append(reinterpret_cast<const char*>(&n), sizeof(n));
  key += lhs + key_of(atom.rhs);
  auto [it, fresh] = atom_index_.try_emplace(key, static_cast<uint32_t>(atoms_.size()));
  if (fresh) {
    atom_facts_.push_back({hint_of_atom(atom), lower_of_atom(atom)});
    atoms_.push_back(std::move(atom));
  }
  return it->second;
}

SymContext::Poly SymContext::poly_of(const SymInt& s) const {
  return s.is_constant() ? constant_poly(s.constant()) : polys_[s.poly()];
}

bool SymContext::contains(uint32_t atom, uint32_t symbol) const {
  const Atom& a = atoms_[atom];
  if (a.kind == AtomKind::symbol) return a.symbol == symbol;
  for (const Poly* p : {&a.lhs, &a.rhs}) {
    for (const Term& t : *p) {
      if (std::ranges::any_of(t.atoms, [&](uint32_t id) { return contains(id, symbol); }))
        return true;
    }
  }
  return false;
}

std::optional<SymContext::Linear> SymContext::linear_in(const SymInt& s, uint32_t symbol) {
  Poly rest, slope;
  for (Term t : poly_of(s)) {
    const auto has_it = [&](uint32_t id) { return contains(id, symbol); };
    const auto count = std::ranges::count_if(t.atoms, has_it);
    if (count == 0) {
      rest.push_back(std::move(t));
      continue;
    }
    const auto at = std::ranges::find_if(t.atoms, has_it);
    if (count > 1 || atoms_[*at].kind != AtomKind::symbol) return std::nullopt;
    t.atoms.erase(at);
    slope.push_back(std::move(t));
  }
  return Linear{intern(normalize(std::move(rest))), intern(normalize(std::move(slope)))};
}

namespace {

// The value of a polynomial, given that of each atom.
template <typename ValueOf>
int64_t sum_of_terms(const Poly& p, ValueOf value_of) {
  int64_t sum = 0;
  for (const Term& t : p) {
    int64_t v = t.coefficient;
    for (const uint32_t id : t.atoms) v = multiply(v, value_of(id));
    sum = add(sum, v);
  }
  return sum;
}

// The value of an atom that is no symbol, given those of its operands.
int64_t apply(SymContext::AtomKind kind, int64_t x, int64_t y) {
  switch (kind) {
    case SymContext::AtomKind::floor_div:
      return y == 0 ? 0 : floor_div_int(x, y);
    case SymContext::AtomKind::mod:
      return floor_mod(x, y);
    case SymContext::AtomKind::min:
      return std::min(x, y);
    case SymContext::AtomKind::ceil_log2:
      return ceil_log2_int(x);
    default:
      return std::max(x, y);
  }
}

}  // namespace

int64_t SymContext::evaluate(uint32_t poly, std::span<const int64_t> symbols) const {
  // The atoms that the value needs, then, operands first, their values.
  std::map<uint32_t, int64_t> values;
  std::vector<const Poly*> pending = {&polys_[poly]};
  while (!pending.empty()) {
    const Poly& p = *pending.back();
    pending.pop_back();
    for (const Term& t : p) {
      for (const uint32_t id : t.atoms) {
        if (values.emplace(id, 0).second && atoms_[id].kind != AtomKind::symbol)
          pending.insert(pending.end(), {&atoms_[id].lhs, &atoms_[id].rhs});
      }
    }
  }
  const auto value_of = [&](uint32_t id) { return values.at(id); };
  for (auto& [id, value] : values) {
    const Atom& a = atoms_[id];
    value = a.kind == AtomKind::symbol
                ? symbols[a.symbol]
                : apply(a.kind, sum_of_terms(a.lhs, value_of), sum_of_terms(a.rhs, value_of));
  }
  return sum_of_terms(polys_[poly], value_of);
}

int64_t SymContext::hint_of(const Poly& p) const {
  return sum_of_terms(p, [&](uint32_t id) { return atom_facts_[id].hint; });
}

int64_t SymContext::hint_of_atom(const Atom& a) const {
  return a.kind == AtomKind::symbol ? symbols_[a.symbol].hint
                                    : apply(a.kind, hint_of(a.lhs), hint_of(a.rhs));
}

// A lower bound by interval arithmetic on the lower bounds of the operands; none where these do not
// decide it.
std::optional<int64_t> SymContext::lower_of_atom(const Atom& a) const {
  switch (a.kind) {
    case AtomKind::symbol: {
      int64_t lower = symbols_[a.symbol].lower;
      return lower == INT64_MIN ? std::nullopt : std::optional(lower);
    }
    case AtomKind::floor_div: {
      auto x = lower_bound(a.lhs), y = lower_bound(a.rhs);
      if (x && y && *x >= 0 && *y > 0) return 0;
      return std::nullopt;
    }
    case AtomKind::mod: {
      auto y = lower_bound(a.rhs);
      return y && *y > 0 ? std::optional<int64_t>(0) : std::nullopt;
    }
    case AtomKind::min: {
      auto x = lower_bound(a.lhs), y = lower_bound(a.rhs);
      return x && y ? std::optional(std::min(*x, *y)) : std::nullopt;
    }
    case AtomKind::max: {
      auto x = lower_bound(a.lhs), y = lower_bound(a.rhs);
      if (x && y) return std::max(*x, *y);
      return x ? x : y;
    }
    case AtomKind::ceil_log2:
      return 0;
  }
  return std::nullopt;
}

// A bound from the symbols' lower bounds alone: known only while no coefficient is negative and no
// factor may be.
std::optional<int64_t> SymContext::lower_bound(const Poly& p) const {
  int64_t sum = 0;
  for (const Term& t : p) {
    if (t.coefficient < 0 && !t.atoms.empty()) return std::nullopt;
    int64_t v = t.coefficient;
    for (uint32_t id : t.atoms) {
      const auto& lower = atom_facts_[id].lower;
      if (!lower || *lower < 0) return std::nullopt;
      if (__builtin_mul_overflow(v, *lower, &v)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, v, &sum)) return std::nullopt;
  }
  return sum;
}

namespace {

uint8_t relation_bit(Guard::Relation relation) {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(relation));
}

}  // namespace

void SymContext::add_guard(const SymInt& lhs, Guard::Relation relation, const SymInt& rhs) {
  SymInt d = lhs - rhs;
  if (d.is_constant()) return;
  if (has_guard(d.poly(), relation)) return;
  guards_of_poly_[d.poly()] |= relation_bit(relation);
  guards_.push_back({d.poly(), relation});
}

void SymContext::truncate_guards(size_t count) {
  for (; guards_.size() > count; guards_.pop_back()) {
    const Guard& g = guards_.back();
    guards_of_poly_[g.poly] &= static_cast<uint8_t>(~relation_bit(g.relation));
  }
}

bool SymContext::has_guard(uint32_t poly, Guard::Relation relation) const {
  const auto it = guards_of_poly_.find(poly);
  return it != guards_of_poly_.end() && (it->second & relation_bit(relation)) != 0;
}

std::string SymContext::atom_text(uint32_t id) const {
  const Atom& a = atoms_[id];
  const char* f = "";
  switch (a.kind) {
    case AtomKind::symbol:
      return symbols_[a.symbol].name;
    case AtomKind::floor_div:
      f = "floor_div";
      break;
    case AtomKind::mod:
      f = "mod";
      break;
    case AtomKind::min:
      f = "min";
      break;
    case AtomKind::max:
      f = "max";
      break;
    case AtomKind::ceil_log2:
      return "ceil_log2(" + poly_text(a.lhs) + ")";
  }
  return std::string(f) + "(" + poly_text(a.lhs) + ", " + poly_text(a.rhs) + ")";
}

std::string SymContext::poly_text(const Poly& p) const {
  if (p.empty()) return "0";
  std::string out;
  // The constant sorts first; people expect it last.
  auto term = [&](const Term& t) {
    int64_t c = t.coefficient;
    if (!out.empty())
      out += c < 0 ? " - " : " + ";
    else if (c < 0)
      out += "-";
    uint64_t magnitude = c < 0 ? -static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    if (t.atoms.empty()) {
      out += std::to_string(magnitude);
      return;
    }
    if (magnitude != 1) out += std::to_string(magnitude) + "*";
    for (size_t i = 0; i < t.atoms.size(); ++i) out += (i ? "*" : "") + atom_text(t.atoms[i]);
  };
  for (const Term& t : p) {
    if (!t.atoms.empty()) term(t);
  }
  if (p[0].atoms.empty()) term(p[0]);
  return out;
}

std::string SymContext::to_string(const SymInt& s) const {
  return poly_text(poly_of(s));
}

std::string SymContext::to_string(const Guard& g) const {
  const char* relation = "";
  switch (g.relation) {
    case Guard::Relation::eq:
      relation = " == 0";
      break;
    case Guard::Relation::ne:
      relation = " != 0";
      break;
    case Guard::Relation::lt:
      relation = " < 0";
      break;
    case Guard::Relation::ge:
      relation = " >= 0";
      break;
  }
  return poly_text(polys_[g.poly]) + relation;
}

int64_t SymInt::hint() const {
  return context_ ? context_->poly_hints_[poly()] : value_;
}

int64_t SymInt::specialize() const {
  if (is_constant()) return value_;
  int64_t v = hint();
  context_->add_guard(*this, Guard::Relation::eq, v);
  return v;
}

SymInt operator+(const SymInt& a, const SymInt& b) {
  SymContext* c = context_of(a, b);
  if (!c) return SymInt(add(a.constant(), b.constant()));
  return c->intern(add_polys(c->poly_of(a), c->poly_of(b), 1));
}

SymInt operator-(const SymInt& a) {
  return a * SymInt(-1);
}
SymInt operator-(const SymInt& a, const SymInt& b) {
  return a + -b;
}

SymInt operator*(const SymInt& a, const SymInt& b) {
  SymContext* c = context_of(a, b);
  if (!c) return SymInt(multiply(a.constant(), b.constant()));
  return c->intern(mul_polys(c->poly_of(a), c->poly_of(b)));
}

SymInt floor_div(const SymInt& a, const SymInt& b) {
  SymContext* c = context_of(a, b);
  if (!c) {
    if (b.constant() == 0) throw Error(ErrorCode::internal, "floor_div of a size by zero");
    return SymInt(floor_div_int(a.constant(), b.constant()));
  }
  Poly p = c->poly_of(a), q = c->poly_of(b);
  if (auto exact = exact_quotient(p, q)) return c->intern(std::move(*exact));
  uint32_t atom = c->intern_atom({SymContext::AtomKind::floor_div, 0, std::move(p), std::move(q)});
  return c->intern({Term{1, {atom}}});
}

SymInt mod(const SymInt& a, const SymInt& b) {
  SymContext* c = context_of(a, b);
  if (!c) return a - b * floor_div(a, b);
  Poly p = c->poly_of(a), q = c->poly_of(b);
  if (exact_quotient(p, q)) return 0;
  uint32_t atom = c->intern_atom({SymContext::AtomKind::mod, 0, std::move(p), std::move(q)});
  return c->intern({Term{1, {atom}}});
}

SymInt ceil_div(const SymInt& a, const SymInt& b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a.hint(), b.hint(), &sum)) return floor_div(a + b - 1, b);
  return -floor_div(-a, b.specialize());
}

namespace {

// Comparisons look at differences. That of a slice's bounds, which may be the greatest numbers that
// there are, need not fit 64 bits: the plan is then for just these numbers.
bool far_apart(const SymInt& a, const SymInt& b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a.hint(), b.hint(), &difference)) return false;
  a.specialize();
  b.specialize();
  return true;
}

}  // namespace

SymInt min(const SymInt& a, const SymInt& b) {
  if (auto less = known_less(a, b)) return *less ? a : b;
  SymContext* c = context_of(a, b);
  uint32_t atom = c->intern_atom({SymContext::AtomKind::min, 0, c->poly_of(a), c->poly_of(b)});
  return c->intern({Term{1, {atom}}});
}

SymInt max(const SymInt& a, const SymInt& b) {
  if (auto less = known_less(a, b)) return *less ? b : a;
  SymContext* c = context_of(a, b);
  uint32_t atom = c->intern_atom({SymContext::AtomKind::max, 0, c->poly_of(a), c->poly_of(b)});
  return c->intern({Term{1, {atom}}});
}

std::optional<bool> known_equal(const SymInt& a, const SymInt& b) {
  if (a.same(b)) return true;
  if (far_apart(a, b)) return false;
  SymInt d = a - b;
  if (d.is_constant()) return d.constant() == 0;
  SymContext* c = d.context();
  using Relation = Guard::Relation;
  if (c->has_guard(d.poly(), Relation::eq)) return true;
  if (c->has_guard(d.poly(), Relation::ne) || c->has_guard(d.poly(), Relation::lt)) return false;
  Poly p = c->poly_of(d);
  if (auto lower = c->lower_bound(p); lower && *lower > 0) return false;
  if (auto lower = c->lower_bound(add_polys({}, p, -1)); lower && *lower > 0) return false;
  return std::nullopt;
}

std::optional<bool> known_less(const SymInt& a, const SymInt& b) {
  if (far_apart(a, b)) return a.hint() < b.hint();
  SymInt d = a - b;
  if (d.is_constant()) return d.constant() < 0;
  SymContext* c = d.context();
  using Relation = Guard::Relation;
  if (c->has_guard(d.poly(), Relation::lt)) return true;
  if (c->has_guard(d.poly(), Relation::ge) || c->has_guard(d.poly(), Relation::eq)) return false;
  if (auto lower = c->lower_bound(c->poly_of(d)); lower && *lower >= 0) return false;
  if (auto lower = c->lower_bound(add_polys({}, c->poly_of(d), -1)); lower && *lower > 0)
    return true;
  return std::nullopt;
}

bool operator==(const SymInt& a, const SymInt& b) {
  if (auto known = known_equal(a, b)) return *known;
  SymContext* c = context_of(a, b);
  bool equal = a.hint() == b.hint();
  c->add_guard(a, equal ? Guard::Relation::eq : Guard::Relation::ne, b);
  return equal;
}

bool operator<(const SymInt& a, const SymInt& b) {
  if (auto known = known_less(a, b)) return *known;
  SymContext* c = context_of(a, b);
  bool less = a.hint() < b.hint();
  c->add_guard(a, less ? Guard::Relation::lt : Guard::Relation::ge, b);
  return less;
}

SymInt ceil_log2(const SymInt& a) {
  if (a.is_constant()) return ceil_log2_int(a.constant());
  SymContext* c = a.context();
  uint32_t atom = c->intern_atom({SymContext::AtomKind::ceil_log2, 0, c->poly_of(a), {}});
  return c->intern({Term{1, {atom}}});
}

void SymInts::out_of_range(size_t i) const {
  const auto rank = static_cast<int64_t>(size());
  throw Error(ErrorCode::index, "Dimension out of range (expected to be in range of [" +
                                    std::to_string(std::min<int64_t>(-rank, -1)) + ", " +
                                    std::to_string(std::max<int64_t>(rank - 1, 0)) + "], but got " +
                                    std::to_string(static_cast<int64_t>(i)) + ")");
}

SymInt product(std::span<const SymInt> xs) {
  SymInt p = 1;
  for (const SymInt& x : xs) p *= x;
  return p;
}

}  // namespace primset::prims
