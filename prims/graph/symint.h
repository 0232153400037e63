// Symbolic integers: the sizes, strides and run-time integers of a traced call.
//
// A SymInt is a constant, or a polynomial over atoms with integer coefficients, kept in canonical
// form in a SymContext: equal polynomials are the same object, so s0*4 == 4*s0 needs no proof.
// Atoms are symbols and opaque floor_div, mod, min, max and ceil_log2.
//
// Every symbol carries a hint, its value in the call being traced. Arithmetic never looks at hints.
// A comparison that the canonical form and the symbols' lower bounds cannot decide is decided by
// the hints and recorded as a guard: the plan made from this trace holds for just those calls whose
// symbols satisfy all guards.
//
// Threads: a context is used by one thread while tracing; a finished one is read-only.
#ifndef PRIMSET_PRIMS_GRAPH_SYMINT_H_
#define PRIMSET_PRIMS_GRAPH_SYMINT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace primset::prims {

class SymContext;

class SymInt {
 public:
  constexpr SymInt(int64_t constant = 0) : value_(constant) {}  // NOLINT: literals are SymInts

  bool is_constant() const { return context_ == nullptr; }
  // The value of a constant; the hint of anything else.
  int64_t hint() const;
  int64_t constant() const { return value_; }  // pre: is_constant()
  std::optional<int64_t> maybe_constant() const {
    return is_constant() ? std::optional<int64_t>(value_) : std::nullopt;
  }
  SymContext* context() const { return context_; }
  uint32_t poly() const { return static_cast<uint32_t>(value_); }  // pre: !is_constant()

  // Forces a value: constant, recording the guard `*this == hint()`.
  int64_t specialize() const;

  // Same polynomial. Says nothing about values: x.same(y) false may still mean x == y.
  bool same(const SymInt& o) const { return context_ == o.context_ && value_ == o.value_; }

 private:
  friend class SymContext;
  SymInt(SymContext* context, uint32_t poly) : context_(context), value_(poly) {}
  SymContext* context_ = nullptr;  // null: a constant
  int64_t value_ = 0;              // constant, or index of the polynomial
};

SymInt operator+(const SymInt& a, const SymInt& b);
SymInt operator-(const SymInt& a, const SymInt& b);
SymInt operator*(const SymInt& a, const SymInt& b);
SymInt operator-(const SymInt& a);
inline SymInt& operator+=(SymInt& a, const SymInt& b) {
  return a = a + b;
}
inline SymInt& operator-=(SymInt& a, const SymInt& b) {
  return a = a - b;
}
inline SymInt& operator*=(SymInt& a, const SymInt& b) {
  return a = a * b;
}
SymInt floor_div(const SymInt& a, const SymInt& b);  // rounds toward -inf; b is not 0
SymInt mod(const SymInt& a, const SymInt& b);        // a - b*floor_div(a, b)
SymInt ceil_div(const SymInt& a, const SymInt& b);
SymInt min(const SymInt& a, const SymInt& b);
SymInt max(const SymInt& a, const SymInt& b);
SymInt ceil_log2(const SymInt& a);  // smallest k with 2^k >= a; a >= 1

// Comparisons decide, recording a guard where they must.
bool operator==(const SymInt& a, const SymInt& b);
bool operator<(const SymInt& a, const SymInt& b);
inline bool operator>(const SymInt& a, const SymInt& b) {
  return b < a;
}
inline bool operator<=(const SymInt& a, const SymInt& b) {
  return !(b < a);
}
inline bool operator>=(const SymInt& a, const SymInt& b) {
  return !(a < b);
}

// What is certain without a guard; nullopt: it depends on the symbols' values.
std::optional<bool> known_equal(const SymInt& a, const SymInt& b);
std::optional<bool> known_less(const SymInt& a, const SymInt& b);

// Sizes, strides or dims. The index is checked: it may come from a user's tensor of a rank that an
// operator does not take, and must then be an error.
class SymInts : public std::vector<SymInt> {
 public:
  using std::vector<SymInt>::vector;
  SymInts() = default;
  SymInts(std::vector<SymInt> list) : std::vector<SymInt>(std::move(list)) {}  // NOLINT: is one

  SymInt& operator[](size_t i) {
    if (i >= size()) [[unlikely]]
      out_of_range(i);
    return data()[i];
  }
  const SymInt& operator[](size_t i) const {
    if (i >= size()) [[unlikely]]
      out_of_range(i);
    return data()[i];
  }

 private:
  [[noreturn]] void out_of_range(size_t i) const;  // throws Error{index}
};
SymInt product(std::span<const SymInt> xs);

struct Guard {
  enum class Relation : uint8_t { eq, ne, lt, ge };
  uint32_t poly;  // poly <relation> 0
  Relation relation;
};

class SymContext {
 public:
  SymContext();
  ~SymContext();
  SymContext(const SymContext&) = delete;
  SymContext& operator=(const SymContext&) = delete;

  // A new symbol; lower is a bound that every call with this plan's key satisfies.
  SymInt symbol(std::string name, int64_t hint, int64_t lower = INT64_MIN);
  size_t symbol_count() const;
  const std::string& symbol_name(size_t index) const;
  int64_t symbol_hint(size_t index) const;
  int64_t symbol_lower(size_t index) const;  // INT64_MIN: none
  // The symbol's index if `s` is a bare symbol.
  std::optional<uint32_t> as_symbol(const SymInt& s) const;

  const std::vector<Guard>& guards() const { return guards_; }
  void add_guard(const SymInt& lhs, Guard::Relation relation, const SymInt& rhs);
  // Forgets the guards recorded since there were `count` of them: those of comparisons whose
  // outcome nothing relies on.
  void truncate_guards(size_t count);

  // The value of a polynomial for given symbol values.
  int64_t evaluate(uint32_t poly, std::span<const int64_t> symbols) const;
  // s = rest + slope * symbol, where neither has the symbol; nullopt: s is not linear in it.
  struct Linear {
    SymInt rest, slope;
  };
  std::optional<Linear> linear_in(const SymInt& s, uint32_t symbol);
  // "4*s0 + s1", for people and the text form.
  std::string to_string(const SymInt& s) const;
  std::string to_string(const Guard& g) const;

  // Structure, for consumers that compile polynomials.
  struct Term {
    int64_t coefficient;
    std::vector<uint32_t> atoms;  // sorted, repeated for powers; empty: the constant term
    friend bool operator==(const Term&, const Term&) = default;
  };
  using Poly = std::vector<Term>;  // sorted by atoms, no zero coefficients
  enum class AtomKind : uint8_t { symbol, floor_div, mod, min, max, ceil_log2 };
  struct Atom {
    AtomKind kind;
    uint32_t symbol;  // symbol: its index
    Poly lhs, rhs;    // operands of the others; ceil_log2 has no rhs
  };
  const Poly& poly(uint32_t id) const { return polys_[id]; }
  Poly poly_of(const SymInt& s) const;
  const Atom& atom(uint32_t id) const { return atoms_[id]; }

 private:
  friend SymInt operator+(const SymInt&, const SymInt&);
  friend SymInt operator*(const SymInt&, const SymInt&);
  friend SymInt floor_div(const SymInt&, const SymInt&);
  friend SymInt mod(const SymInt&, const SymInt&);
  friend SymInt min(const SymInt&, const SymInt&);
  friend SymInt max(const SymInt&, const SymInt&);
  friend SymInt ceil_log2(const SymInt&);
  friend std::optional<bool> known_less(const SymInt&, const SymInt&);
  friend std::optional<bool> known_equal(const SymInt&, const SymInt&);
  friend class SymInt;

  struct Symbol {
    std::string name;
    int64_t hint, lower;
  };
  SymInt intern(Poly poly);
  bool contains(uint32_t atom, uint32_t symbol) const;
  uint32_t intern_atom(Atom atom);
  std::optional<int64_t> lower_bound(const Poly& p) const;
  std::optional<int64_t> lower_of_atom(const Atom& atom) const;
  int64_t hint_of(const Poly& p) const;
  int64_t hint_of_atom(const Atom& atom) const;
  bool has_guard(uint32_t poly, Guard::Relation relation) const;
  std::string poly_text(const Poly& p) const;
  std::string atom_text(uint32_t atom) const;

  std::vector<Symbol> symbols_;
  // Known when an atom or polynomial is made, since its operands are made before it.
  struct AtomFacts {
    int64_t hint;
    std::optional<int64_t> lower;
  };
  std::vector<Atom> atoms_;
  std::vector<AtomFacts> atom_facts_;
  std::vector<Poly> polys_;
  std::vector<int64_t> poly_hints_;
  std::unordered_map<std::string, uint32_t> poly_index_, atom_index_;
  std::vector<Guard> guards_;
  std::unordered_map<uint32_t, uint8_t> guards_of_poly_;  // bit set of relations
};

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_SYMINT_H_
