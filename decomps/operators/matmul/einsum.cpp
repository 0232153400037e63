// einsum: its equation read as labels, with ATen's errors; and the other sums of products.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "decomps/engine/engine.h"
#include "decomps/operators/matmul.h"
#include "decomps/operators/matmul/labelled_product.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Labels = std::vector<int>;

// Letters are their codes; the dims of an ellipsis count from the right, behind all letters.
constexpr int kEllipsis = 256;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

struct Subscripts {
  std::vector<Labels> operands;  // an ellipsis is one kEllipsis
  std::optional<Labels> result;
};

// One operand's or the result's subscripts, beginning at text[at].
Labels read_subscripts(const std::string& text, size_t& at, std::string_view ends,
                       const std::string& whose) {
  Labels labels;
  for (; at < text.size() && ends.find(text[at]) == std::string_view::npos; ++at) {
    const char c = text[at];
    if (c == ' ') continue;
    if (c == '.') {
      require(text.compare(at, 3, "...") == 0, ErrorCode::runtime,
              fmt::format("einsum(): found '.' for {} that is not part of any ellipsis", whose));
      require(
          std::find(labels.begin(), labels.end(), kEllipsis) == labels.end(), ErrorCode::runtime,
          fmt::format("einsum(): found '.' for {} for which an ellipsis was already found", whose));
      labels.push_back(kEllipsis);
      at += 2;
      continue;
    }
    require(is_letter(c), ErrorCode::runtime,
            fmt::format("einsum(): invalid subscript given at index {} in the equation string, "
                        "subscripts must be in [a-zA-Z]",
                        at));
    labels.push_back(c);
  }
  return labels;
}

Subscripts read_equation(const std::string& equation, size_t operands) {
  Subscripts s;
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  size_t at = 0;
  for (;;) {
    s.operands.push_back(
        read_subscripts(left, at, ",", fmt::format("operand {}", s.operands.size())));
    if (at >= left.size()) break;
    ++at;
    require(s.operands.size() < operands, ErrorCode::runtime,
            fmt::format("einsum(): fewer operands were provided than specified in the equation; "
                        "found {}, expected more",
                        operands));
  }
  require(s.operands.size() == operands, ErrorCode::runtime,
          fmt::format("einsum(): more operands were provided than specified in the equation; found "
                      "{}, expected {}",
                      operands, s.operands.size()));
  if (arrow == std::string::npos) return s;
  at = arrow + 2;
  s.result = read_subscripts(equation, at, "", "the output");
  return s;
}

// Subscripts with the dims of an ellipsis spelt out; `width`: the widest ellipsis.
Labels spelt_out(const Labels& labels, int64_t width) {
  Labels out;
  for (int l : labels) {
    if (l != kEllipsis) {
      out.push_back(l);
      continue;
    }
    for (int64_t i = width; i-- > 0;) out.push_back(kEllipsis + static_cast<int>(i));
  }
  return out;
}

bool has_ellipsis(const Labels& labels) {
  return std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
}

// How many dims an operand's ellipsis covers.
int64_t ellipsis_width(const Labels& labels, const Val& x, size_t i) {
  const auto named = static_cast<int64_t>(labels.size()) - (has_ellipsis(labels) ? 1 : 0);
  const bool fits = has_ellipsis(labels) ? named <= x.rank() : named == x.rank();
  require(fits, ErrorCode::runtime,
          fmt::format("einsum(): the number of subscripts in the equation ({}) {} the number of "
                      "dimensions ({}) for operand {}{}",
                      named, has_ellipsis(labels) ? "is more than" : "does not match", x.rank(), i,
                      has_ellipsis(labels) ? "" : " and no ellipsis was given"));
  return has_ellipsis(labels) ? x.rank() - named : 0;
}

// A label that stands twice takes the diagonal.
Labelled with_diagonals(const Val& x, const Labels& labels, size_t operand) {
  Labelled out{x, labels};
  for (size_t d = 0; d < out.labels.size(); ++d) {
    for (size_t e = d + 1; e < out.labels.size();) {
      if (out.labels[e] != out.labels[d]) {
        ++e;
        continue;
      }
      const auto a = static_cast<int64_t>(d), b = static_cast<int64_t>(e);
      const SymInt first = out.value.size(a), second = out.value.size(b);
      require(first == second, ErrorCode::runtime,
              fmt::format("einsum(): subscript {} is repeated for operand {} but the sizes don't "
                          "match, {} != {}",
                          static_cast<char>(out.labels[d]), operand, second.hint(), first.hint()));
      const Val line = x.tracer().prim1(Prim::diagonal, {out.value},
                                        {{"offset", int64_t{0}}, {"dim1", a}, {"dim2", b}});
      out.value = moved_dim(line, line.rank() - 1, a);
      out.labels.erase(out.labels.begin() + static_cast<std::ptrdiff_t>(e));
    }
  }
  return out;
}

void require_sizes(const std::vector<Labelled>& operands) {
  std::vector<std::pair<int, SymInt>> seen;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t d = 0; d < operands[i].labels.size(); ++d) {
      const int label = operands[i].labels[d];
      const SymInt size = operands[i].value.size(static_cast<int64_t>(d));
      if (known_equal(size, 1) == true) continue;
      const auto known =
          std::find_if(seen.begin(), seen.end(), [&](const auto& s) { return s.first == label; });
      if (known == seen.end()) {
        seen.emplace_back(label, size);
        continue;
      }
      const bool letter = label < kEllipsis;
      require(known->second == size, ErrorCode::runtime,
              letter ? fmt::format("einsum(): subscript {} has size {} for operand {} which does "
                                   "not broadcast with previously seen size {}",
                                   static_cast<char>(label), size.hint(), i, known->second.hint())
                     : fmt::format("einsum(): dimension {} covered by ellipsis in operand {}has "
                                   "size {} which does not broadcast with previously seen "
                                   "ellipsis with size {} for the respective dimension",
                                   d, i, size.hint(), known->second.hint()));
    }
  }
}

Labels checked_result(const Labels& result, const std::vector<Labelled>& operands) {
  Labels seen;
  for (int l : result) {
    const bool letter = l < kEllipsis;
    require(std::find(seen.begin(), seen.end(), l) == seen.end(), ErrorCode::runtime,
            fmt::format("einsum(): output subscript {} appears more than once in the output",
                        static_cast<char>(l)));
    seen.push_back(l);
    const bool known = std::any_of(operands.begin(), operands.end(), [&](const Labelled& x) {
      return std::find(x.labels.begin(), x.labels.end(), l) != x.labels.end();
    });
    require(known || !letter, ErrorCode::runtime,
            fmt::format("einsum(): output subscript {} does not appear in the equation for any "
                        "input operand",
                        static_cast<char>(l)));
  }
  return result;
}

// Without an arrow: the ellipsis, then what stands once, in alphabetical order.
Labels implied_result(const std::vector<Labels>& operands, int64_t width) {
  std::array<int, kEllipsis> count{};
  for (const Labels& labels : operands) {
    for (int l : labels) {
      if (l != kEllipsis) ++count[static_cast<size_t>(l)];
    }
  }
  Labels result = spelt_out({kEllipsis}, width);
  for (int l = 0; l < kEllipsis; ++l) {
    if (count[static_cast<size_t>(l)] == 1) result.push_back(l);
  }
  return result;
}

void require_one_type(const std::vector<Val>& tensors) {
  for (const Val& x : tensors)
    require(x.dtype() == tensors[0].dtype(), ErrorCode::runtime,
            fmt::format("expected scalar type {} but found {}", aten_name(tensors[0].dtype()),
                        aten_name(x.dtype())));
}

}  // namespace

Val einsum::decompose(Tracer& t, const std::string& equation, const std::vector<Val>& tensors,
                      const std::optional<std::vector<int64_t>>&) {
  require(!tensors.empty(), ErrorCode::runtime, "einsum(): must provide at least one operand");
  const Subscripts s = read_equation(equation, tensors.size());
  int64_t width = 0;
  std::vector<int64_t> widths;
  for (size_t i = 0; i < tensors.size(); ++i) {
    widths.push_back(ellipsis_width(s.operands[i], tensors[i], i));
    width = std::max(width, widths.back());
  }
  std::vector<Labelled> operands;
  for (size_t i = 0; i < tensors.size(); ++i)
    operands.push_back(with_diagonals(tensors[i], spelt_out(s.operands[i], widths[i]), i));
  require_sizes(operands);
  const Labels result = s.result ? checked_result(spelt_out(*s.result, width), operands)
                                 : implied_result(s.operands, width);
  require_one_type(tensors);
  const DType type = tensors[0].dtype();
  for (Labelled& x : operands) {
    if (type == DType::c32) x.value = opmath(x.value);
  }
  // One operand is summed as sum() does it, which counts in i64.
  if (operands.size() == 1 && operands[0].labels.size() > result.size() &&
      (is_integral(tensors[0].dtype()) || is_bool(tensors[0].dtype())))
    operands[0].value = convert(operands[0].value, DType::i64);
  const Val product = labelled_product(operands, result);
  return type == DType::c32 ? convert(product, type) : product;
}

namespace {

// The labels of an operand that lacks the dims in `lacking` of `total`.
Labels labels_but(const std::vector<int64_t>& lacking, int64_t total) {
  const std::vector<int64_t> expanded = wrap_dims(lacking, total, false);
  Labels labels;
  for (int64_t d = 0; d < total; ++d) {
    if (std::find(expanded.begin(), expanded.end(), d) == expanded.end())
      labels.push_back(static_cast<int>(d));
  }
  return labels;
}

// Of the dims with this label, but for those of size 1.
void require_one_size(const std::vector<Labelled>& operands, int label) {
  std::optional<SymInt> known;
  for (const Labelled& x : operands) {
    const auto at = std::find(x.labels.begin(), x.labels.end(), label);
    if (at == x.labels.end()) continue;
    const SymInt size = x.value.size(at - x.labels.begin());
    if (known_equal(size, 1) == true) continue;
    require(!known || *known == size, ErrorCode::runtime,
            fmt::format("_trilinear: dim {} is of size {} and of size {}", label,
                        known ? known->hint() : 0, size.hint()));
    known = size;
  }
}

}  // namespace

Val _trilinear::decompose(Tracer& t, const Val& i1, const Val& i2, const Val& i3,
                          const std::vector<int64_t>& expand1, const std::vector<int64_t>& expand2,
                          const std::vector<int64_t>& expand3, const std::vector<int64_t>& sumdim,
                          int64_t unroll_dim) {
  const int64_t total = i1.rank() + static_cast<int64_t>(expand1.size());
  const auto fits = [&](const Val& x, const std::vector<int64_t>& expanded) {
    return x.rank() + static_cast<int64_t>(expanded.size()) == total;
  };
  require(
      unroll_dim >= 0 && unroll_dim < total, ErrorCode::runtime,
      fmt::format("_trilinear: unroll_dim must be in [0, {}], but got {}", total - 1, unroll_dim));
  require(fits(i2, expand2) && fits(i3, expand3), ErrorCode::runtime,
          "_trilinear: the operands and the dims that they lack have different ranks in sum");
  for (const Val* v : {&i2, &i3}) {
    require(v->dtype() == i1.dtype(), ErrorCode::runtime,
            fmt::format("expected scalar type {} but found {}", aten_name(i1.dtype()),
                        aten_name(v->dtype())));
  }
  const std::vector<Labelled> operands{{i1, labels_but(expand1, total)},
                                       {i2, labels_but(expand2, total)},
                                       {i3, labels_but(expand3, total)}};
  for (int d = 0; d < static_cast<int>(total); ++d) require_one_size(operands, d);
  return labelled_product(operands, labels_but(sumdim, total));
}

Val bilinear::decompose(Tracer& t, const Val& input1, const Val& input2, const Val& weight,
                        const std::optional<Val>& bias) {
  require(weight.rank() == 3, ErrorCode::runtime,
          fmt::format("bilinear(): expected a weight of 3 dims, but got {}", weight.rank()));
  require(input1.rank() == input2.rank(), ErrorCode::runtime,
          fmt::format("bilinear(): input dimensions do not match: got {} and {}", input1.rank(),
                      input2.rank()));
  for (int64_t d = 0; d + 1 < input1.rank(); ++d)
    require(input1.size(d) == input2.size(d), ErrorCode::runtime,
            fmt::format("bilinear(): input batch dimensions do not match at dim {}: got {} and {}",
                        d, input1.size(d).hint(), input2.size(d).hint()));
  require(input1.size(-1) == weight.size(1), ErrorCode::runtime,
          fmt::format("bilinear(): input1 size does not match weight size: got {} but expected {}",
                      input1.size(-1).hint(), weight.size(1).hint()));
  require(input2.size(-1) == weight.size(2), ErrorCode::runtime,
          fmt::format("bilinear(): input2 size does not match weight size: got {} but expected {}",
                      input2.size(-1).hint(), weight.size(2).hint()));
  require(!bias || bias->size(0) == weight.size(0), ErrorCode::runtime,
          fmt::format("bilinear(): bias size does not match weight size: got {} but expected {}",
                      bias ? bias->size(0).hint() : 0, weight.size(0).hint()));
  require_one_type({input1, input2, weight});
  Labels left, right, result;
  for (int64_t d = 0; d + 1 < input1.rank(); ++d) result.push_back(static_cast<int>(d));
  left = right = result;
  left.push_back('x');
  right.push_back('y');
  result.push_back('o');
  const Val y =
      labelled_product({{input1, left}, {weight, {'o', 'x', 'y'}}, {input2, right}}, result);
  return bias ? t.call1("add.Tensor", {y, *bias}) : y;
}

}  // namespace primset::decomps
