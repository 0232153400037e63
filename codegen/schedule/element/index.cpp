#include "codegen/schedule/element/index.h"

#include <algorithm>

namespace primset::schedule {

const SymInt& Affine::coefficient(size_t d) const {
  static const SymInt zero = 0;
  return d < coefficients.size() ? coefficients[d] : zero;
}

Affine operator+(const Affine& a, const SymInt& b) {
  Affine out = a;
  out.constant += b;
  return out;
}

Affine operator*(const Affine& a, const SymInt& b) {
  Affine out = a;
  out.constant *= b;
  for (SymInt& c : out.coefficients) c *= b;
  return out;
}

Affine add_affine(const Affine& a, const Affine& b) {
  Affine out;
  out.constant = a.constant + b.constant;
  out.coefficients.resize(std::max(a.coefficients.size(), b.coefficients.size()));
  for (size_t d = 0; d < out.coefficients.size(); ++d) {
    out.coefficients[d] = a.coefficient(d) + b.coefficient(d);
  }
  return out;
}

Affine loop_variable(size_t d) {
  Affine out;
  out.coefficients.assign(d + 1, SymInt(0));
  out.coefficients[d] = 1;
  return out;
}

bool same(const Affine& a, const Affine& b) {
  if (!a.constant.same(b.constant) || a.opaque != b.opaque) return false;
  size_t n = std::max(a.coefficients.size(), b.coefficients.size());
  for (size_t d = 0; d < n; ++d) {
    if (!a.coefficient(d).same(b.coefficient(d))) return false;
  }
  return true;
}

Index affine_index(Affine a) {
  Index out;
  out.affine = std::move(a);
  return out;
}

namespace {

void append(std::string& key, const SymInt& s) {
  key += s.is_constant() ? '#' : '$';
  int64_t v = s.is_constant() ? s.constant() : static_cast<int64_t>(s.poly());
  key.append(reinterpret_cast<const char*>(&v), sizeof(v));
}

void append(std::string& key, const Affine& a) {
  append(key, a.constant);
  size_t n = a.coefficients.size();
  while (n > 0 && a.coefficients[n - 1].same(SymInt(0))) --n;
  for (size_t d = 0; d < n; ++d) append(key, a.coefficients[d]);
  key += '|';
  key.append(reinterpret_cast<const char*>(&a.opaque.id), sizeof(a.opaque.id));
}

}  // namespace

std::string index_key(const Indices& indices) {
  std::string key;
  for (const Index& i : indices) {
    if (!i.split) {
      append(key, i.affine);
      continue;
    }
    key += '/';
    append(key, i.split->linear);
    for (const SymInt& s : i.split->sizes) append(key, s);
    key += std::to_string(i.part) + ';';
  }
  return key;
}

}  // namespace primset::schedule
