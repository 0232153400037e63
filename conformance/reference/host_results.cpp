#include "conformance/reference/host_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "decomps/operators/random/direction_numbers.h"
#include "prims/reference/array.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using Ints = std::vector<int64_t>;

[[noreturn]] void refuse(ErrorCode code, const char* why) {
  throw Error(code, why);
}

// The arguments of a call by their names.
class HostCall {
 public:
  HostCall(const specs::Bundle& bundle, const specs::Overload& overload, const TestCase& test,
           decomps::DeviceTraits device)
      : bundle(bundle), overload(overload), test(test), device(device) {}

  const HostTensor& tensor(size_t i) const { return std::get<HostTensor>(test.args.at(i)); }
  const HostTensor& self() const { return tensor(0); }
  template <typename T>
  const T* find(std::string_view name) const {
    const int i = overload.find_arg(name);
    return i < 0 ? nullptr : std::get_if<T>(&test.args.at(static_cast<size_t>(i)));
  }
  size_t storage_size(const HostTensor& t) const { return test.storages.at(t.storage).size(); }

  const specs::Bundle& bundle;
  const specs::Overload& overload;
  const TestCase& test;
  const decomps::DeviceTraits device;
};

// --- numbers ---

Expected number(DType dtype, Element e) {
  ExpectedTensor r;
  r.dtype = dtype;
  r.values = Array{dtype, {}, {e}};
  Expected out;
  out.results.push_back(std::move(r));
  return out;
}

size_t dim_of(const HostCall& c) {
  const auto rank = static_cast<int64_t>(c.self().sizes.size());
  int64_t dim = *c.find<int64_t>("dim");
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) refuse(ErrorCode::index, "the dim is out of range");
  return static_cast<size_t>(dim);
}

// The strides of elements that lie without gaps, the dims in this order from the innermost.
Ints dense_strides(const Ints& sizes, const std::vector<size_t>& order) {
  Ints strides(sizes.size());
  int64_t step = 1;
  for (size_t d : order) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

std::vector<size_t> order_of(MemoryFormat format, size_t rank) {
  if (format == MemoryFormat::channels_last) return {1, 3, 2, 0};
  if (format == MemoryFormat::channels_last_3d) return {1, 4, 3, 2, 0};
  std::vector<size_t> order;
  for (size_t d = rank; d-- > 0;) order.push_back(d);
  return order;
}

size_t rank_of(MemoryFormat format, size_t rank) {
  return format == MemoryFormat::channels_last      ? 4
         : format == MemoryFormat::channels_last_3d ? 5
                                                    : rank;
}

bool lies_in(const HostTensor& t, MemoryFormat format) {
  if (format == MemoryFormat::preserve) return false;
  if (rank_of(format, t.sizes.size()) != t.sizes.size()) return false;
  const Ints dense = dense_strides(t.sizes, order_of(format, t.sizes.size()));
  if (ref::element_count(t.sizes) == 0) return true;
  for (size_t d = 0; d < dense.size(); ++d) {
    if (t.sizes[d] != 1 && t.strides[d] != dense[d]) return false;
  }
  return true;
}

Expected read_number(const HostCall& c) {
  if (ref::element_count(c.self().sizes) != 1)
    refuse(ErrorCode::runtime, "a number is read from one element");
  Array values = read(c.test.storages, c.self());
  return number(values.dtype, values.data[0]);
}

Expected read_truth(const HostCall& c) {
  if (ref::element_count(c.self().sizes) != 1)
    refuse(ErrorCode::runtime, "a truth value is read from one element");
  const Element e = read(c.test.storages, c.self()).data[0];
  const DType t = c.self().dtype;
  if (is_integral(t) || is_bool(t)) return expected_truth(e.integer != 0);
  return expected_truth(e.re != 0 || (is_complex(t) && e.im != 0));
}

Expected dtype(DType t) {
  return expected_integer(static_cast<int64_t>(t));
}

// The operator that adds the two, which has the dtype that ATen ranks them to, says which it is.
Expected result_type(const HostCall& c) {
  std::vector<decomps::PromotionOperand> operands;
  using Category = decomps::PromotionOperand::Category;
  for (const ArgValue& v : c.test.args) {
    if (const auto* t = std::get_if<HostTensor>(&v)) {
      const bool zero_dim = t->sizes.empty();
      operands.push_back({t->dtype, t->wrapped_number ? Category::number
                                    : zero_dim        ? Category::zero_dim
                                                      : Category::dimensioned});
      continue;
    }
    constexpr DType kLiterals[] = {DType::boolean, DType::i64, DType::f64, DType::c128};
    operands.push_back(
        {kLiterals[static_cast<size_t>(std::get<Scalar>(v).kind())], Category::number});
  }
  return dtype(decomps::result_type(operands));
}

// ATen's rules for one kernel of attention, by what stands against it.
bool masks_scores(const HostTensor& mask, const Ints& query, const Ints& key) {
  Ints scores = {query[0], query[1], query[2], key[2]}, sizes = mask.sizes;
  if (sizes.size() < 2) refuse(ErrorCode::index, "a mask of attention has two dims");
  if (sizes.size() == 2) sizes.insert(sizes.begin(), 2, 1);
  return std::ranges::equal(sizes, scores, [](int64_t m, int64_t s) { return m == s || m == 1; });
}

bool is_one_kernel(const HostCall& c) {
  const std::array operands = {&c.tensor(0), &c.tensor(1), &c.tensor(2)};
  if (*c.find<double>("dropout_p") > 0) return false;
  for (const HostTensor* t : operands) {
    if (t->sizes.size() != 4) return false;
  }
  const Ints &q = operands[0]->sizes, &k = operands[1]->sizes, &v = operands[2]->sizes;
  const int64_t queries_of_a_head =
      *c.find<bool>("enable_gqa") ? q[1] / std::max<int64_t>(k[1], 1) : 1;
  if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || q[1] != k[1] * queries_of_a_head)
    return false;
  if (const auto* mask = c.find<HostTensor>("attn_mask"); mask && !masks_scores(*mask, q, k))
    return false;
  if (q[2] == 0 || k[2] == 0 || k[3] != q[3] || v[3] != q[3]) return false;
  constexpr std::array kTaken = {DType::f16, DType::bf16, DType::f32, DType::f64};
  return std::ranges::all_of(operands, [&](const HostTensor* t) {
    return t->dtype == operands[0]->dtype && std::ranges::count(kTaken, t->dtype) == 1 &&
           t->strides[3] == 1;
  });
}

// --- other memory ---

// The geometry that a call gives a tensor. Elements outside of the storage are not known.
struct Geometry {
  uint32_t storage;
  DType dtype;
  Ints sizes, strides;
  int64_t offset = 0;
  bool of_argument = false;  // the storage of another argument
};

void require_sizes(const Ints& sizes) {
  if (std::ranges::any_of(sizes, [](int64_t s) { return s < 0; }))
    refuse(ErrorCode::runtime, "a size is negative");
}

Geometry resized(const HostCall& c, const Ints& sizes, const MemoryFormat* format) {
  require_sizes(sizes);
  const HostTensor& t = c.self();
  if (format && *format == MemoryFormat::preserve)
    refuse(ErrorCode::runtime, "no format is preserved");
  if (format && rank_of(*format, sizes.size()) != sizes.size())
    refuse(ErrorCode::runtime, "the format is of another rank");
  const bool same = sizes == t.sizes;
  const MemoryFormat f = format ? *format : MemoryFormat::contiguous;
  const Ints dense = dense_strides(sizes, order_of(f, sizes.size()));
  return {t.storage, t.dtype, sizes, same && !format ? t.strides : dense, t.offset};
}

Geometry resized_as(const HostCall& c) {
  const HostTensor& other = c.tensor(1);
  const MemoryFormat* format = c.find<MemoryFormat>("memory_format");
  MemoryFormat own = MemoryFormat::contiguous;
  if (format && *format == MemoryFormat::preserve) {
    for (MemoryFormat f : {MemoryFormat::channels_last, MemoryFormat::channels_last_3d}) {
      if (lies_in(other, f) && !lies_in(other, MemoryFormat::contiguous)) own = f;
    }
    format = &own;
  }
  return resized(c, other.sizes, format);
}

Geometry seen_through(const HostCall& c) {
  const HostTensor& source = c.tensor(1);
  const Ints& sizes = *c.find<Ints>("size");
  Ints strides = *c.find<Ints>("stride");
  require_sizes(sizes);
  if (strides.empty())
    strides = dense_strides(sizes, order_of(MemoryFormat::contiguous, sizes.size()));
  const int64_t offset = *c.find<int64_t>("storage_offset");
  const bool negative = std::ranges::any_of(strides, [](int64_t s) { return s < 0; });
  if (strides.size() != sizes.size() || negative || offset < 0)
    refuse(ErrorCode::runtime, "no such place in a storage");
  return {source.storage, c.self().dtype, sizes, strides, offset, true};
}

Geometry seen_whole(const HostCall& c) {
  const HostTensor& source = c.tensor(1);
  const auto count = static_cast<int64_t>(c.storage_size(source) / byte_size(c.self().dtype));
  return {source.storage, c.self().dtype, {count}, {1}, 0, true};
}

Geometry seen_as_tensor(const HostCall& c) {
  const HostTensor& source = c.tensor(1);
  if (source.dtype != c.self().dtype) refuse(ErrorCode::runtime, "another dtype");
  return {source.storage, source.dtype, source.sizes, source.strides, source.offset, true};
}

// A new tensor is compared by its elements; what is in place by where it lies, too.
Expected changed(const HostCall& c, const Geometry& g) {
  ExpectedTensor r;
  r.dtype = g.dtype;
  r.sizes = g.sizes;
  r.strides = g.strides;
  r.anywhere = c.overload.kind == specs::OverloadKind::functional;
  const HostTensor seen{g.dtype, g.sizes, g.strides, g.offset, g.storage};
  const bool within = lies_within(seen, c.test.storages.at(g.storage).size());
  const bool own = g.of_argument || c.overload.kind == specs::OverloadKind::inplace;
  // A copy has the elements in another order, and guards are no elements of it. Bytes that were no
  // bools are none now.
  const bool any_bytes = !is_bool(g.dtype) || g.sizes == c.self().sizes;
  if (within && any_bytes && (own || g.sizes == c.self().sizes))
    r.values = read(c.test.storages, seen);
  if (c.overload.kind != specs::OverloadKind::functional) {
    r.origin = Origin::argument;
    r.argument = c.overload.kind == specs::OverloadKind::out
                     ? static_cast<uint32_t>(c.test.args.size() - 1)
                     : 0;
  }
  if (c.overload.kind == specs::OverloadKind::inplace) r.offset = g.offset;
  Expected out;
  if (c.overload.kind == specs::OverloadKind::out) {
    const auto& to = std::get<HostTensor>(c.test.args.back());
    if (to.dtype != g.dtype) refuse(ErrorCode::runtime, "out= has another dtype");
    r.strides = to.sizes == g.sizes
                    ? to.strides
                    : dense_strides(g.sizes, order_of(MemoryFormat::contiguous, g.sizes.size()));
    HostTensor written = to;
    written.sizes = g.sizes;
    written.strides = *r.strides;
    out.written.push_back({written, r.values});
  }
  out.results.push_back(std::move(r));
  return out;
}

// By Bratley and Fox (1988), on the numbers as fractions: v_j is the exclusive or of those before
// it at the polynomial's coefficients, and of v_(j-s) once more, shifted by s.
Ints directions(const decomps::SobolBeginning& b) {
  const size_t degree = b.numbers.size(), bits = decomps::kSobolBits;
  const uint32_t coefficients = b.polynomial << 1 | 1;
  Ints v;
  for (size_t j = 0; j < bits; ++j) {
    int64_t next = j < degree ? int64_t{b.numbers[j]} << (bits - 1 - j) : v[j - degree] >> degree;
    for (size_t k = 1; j >= degree && k <= degree; ++k) {
      if ((coefficients >> (degree - k)) & 1u) next ^= v[j - k];
    }
    v.push_back(next);
  }
  return v;
}

Expected sobol_directions(const HostCall& c) {
  const HostTensor& t = c.self();
  const int64_t dims = *c.find<int64_t>("dimension");
  if (t.dtype != DType::i64 || t.sizes.size() != 2 || t.sizes[1] != decomps::kSobolBits)
    refuse(ErrorCode::runtime, "no state of a Sobol sequence");
  if (dims > t.sizes[0] || dims > decomps::kSobolDims)
    refuse(ErrorCode::runtime, "as many dims there are not");
  Expected out = changed(c, {t.storage, t.dtype, t.sizes, t.strides, t.offset});
  if (t.sizes[0] == 0) return out;
  const auto bits = static_cast<size_t>(decomps::kSobolBits);
  std::vector<Element>& state = out.results[0].values->data;
  for (size_t i = 0; i < state.size(); ++i) {
    const int64_t own = i < bits ? 1 : state[i].integer;
    state[i].integer = own << (bits - 1 - i % bits);
  }
  size_t at = bits;
  for (const decomps::SobolBeginning& b : decomps::sobol_beginnings(dims)) {
    for (int64_t v : directions(b)) state[at++].integer = v;
  }
  out.written.push_back({t, out.results[0].values});
  return out;
}

// --- the same call of another overload, with a value that is read ---

Expected passed_on(const HostCall& c, const char* overload, std::vector<ArgValue> args) {
  TestCase other = c.test;
  other.id.subject = overload;
  other.args = std::move(args);
  return evaluate(c.bundle, other, c.device);
}

Ints numbers_in(const HostCall& c, const HostTensor& t) {
  Ints out;
  for (const Element& e : read(c.test.storages, t).data) out.push_back(e.integer);
  return out;
}

Expected split_at_tensor(const HostCall& c) {
  const HostTensor& at = c.tensor(1);
  if (at.dtype != DType::i64 || at.sizes.size() > 1)
    refuse(ErrorCode::runtime, "no indices or sections");
  const Ints places = numbers_in(c, at);
  if (at.sizes.empty())
    return passed_on(c, "tensor_split.sections", {c.test.args[0], places[0], c.test.args[2]});
  return passed_on(c, "tensor_split.indices", {c.test.args[0], places, c.test.args[2]});
}

Expected reshape_to_tensor(const HostCall& c) {
  const HostTensor& shape = c.tensor(1);
  if (shape.dtype != DType::i64 || shape.sizes.size() != 1)
    refuse(ErrorCode::runtime, "no vector of sizes");
  return passed_on(c, "reshape", {c.test.args[0], numbers_in(c, shape)});
}

using HostFunction = Expected (*)(const HostCall& c);

constexpr std::pair<std::string_view, HostFunction> kFunctions[] = {
    {"dim", [](const HostCall& c) { return expected_integer(std::ssize(c.self().sizes)); }},
    {"numel",
     [](const HostCall& c) { return expected_integer(ref::element_count(c.self().sizes)); }},
    {"size", [](const HostCall& c) { return expected_integer(c.self().sizes[dim_of(c)]); }},
    {"stride", [](const HostCall& c) { return expected_integer(c.self().strides[dim_of(c)]); }},
    {"storage_offset", [](const HostCall& c) { return expected_integer(c.self().offset); }},
    {"is_contiguous",
     [](const HostCall& c) {
       const auto* format = c.find<MemoryFormat>("memory_format");
       return expected_truth(lies_in(c.self(), format ? *format : MemoryFormat::contiguous));
     }},
    {"is_same_size",
     [](const HostCall& c) { return expected_truth(c.self().sizes == c.tensor(1).sizes); }},
    {"is_complex", [](const HostCall& c) { return expected_truth(is_complex(c.self().dtype)); }},
    {"is_floating_point",
     [](const HostCall& c) { return expected_truth(is_floating(c.self().dtype)); }},
    {"is_signed",
     [](const HostCall& c) {
       const DType t = c.self().dtype;
       return expected_truth(info(t).kind != 'u' && !is_bool(t) && t != DType::f8_e8m0fnu);
     }},
    {"is_conj", [](const HostCall& c) { return expected_truth(c.self().conj); }},
    {"is_neg", [](const HostCall& c) { return expected_truth(c.self().neg); }},
    {"can_cast",
     [](const HostCall& c) {
       return expected_truth(
           decomps::can_cast(std::get<DType>(c.test.args[0]), std::get<DType>(c.test.args[1])));
     }},
    {"promote_types",
     [](const HostCall& c) {
       return dtype(decomps::promote_types(std::get<DType>(c.test.args[0]),
                                           std::get<DType>(c.test.args[1])));
     }},
    {"result_type", result_type},
    {"fused_attention_choice",
     [](const HostCall& c) { return expected_integer(is_one_kernel(c)); }},
    {"sobol_directions", sobol_directions},
    {"read_number", read_number},
    {"read_truth", read_truth},
    {"resize",
     [](const HostCall& c) {
       return changed(c, resized(c, *c.find<Ints>("size"), c.find<MemoryFormat>("memory_format")));
     }},
    {"resize_as", [](const HostCall& c) { return changed(c, resized_as(c)); }},
    {"set_empty",
     [](const HostCall& c) {
       return changed(c, {c.self().storage, c.self().dtype, {0}, {1}, 0, true});
     }},
    {"set_storage", [](const HostCall& c) { return changed(c, seen_whole(c)); }},
    {"set_with_geometry", [](const HostCall& c) { return changed(c, seen_through(c)); }},
    {"set_tensor", [](const HostCall& c) { return changed(c, seen_as_tensor(c)); }},
    {"split_at_tensor", split_at_tensor},
    {"reshape_to_tensor", reshape_to_tensor},
};

}  // namespace

Expected expected_integer(int64_t v) {
  Element e;
  e.integer = v;
  return number(DType::i64, e);
}

Expected expected_truth(bool v) {
  Element e;
  e.integer = v;
  return number(DType::boolean, e);
}

bool is_answered_on_host(const specs::Bundle& bundle, const specs::Overload& overload) {
  return !overload.intrinsic.empty() &&
         bundle.computed_by(overload).implementation.kind == specs::ImplKind::none;
}

Expected host_results(const specs::Bundle& bundle, const specs::Overload& overload,
                      const TestCase& test, decomps::DeviceTraits device) {
  const auto* f = std::ranges::find(kFunctions, std::string_view(overload.intrinsic),
                                    &std::pair<std::string_view, HostFunction>::first);
  if (f == std::end(kFunctions))
    throw Error(ErrorCode::internal,
                fmt::format("{}: what the function '{}' gives is not stated here",
                            overload.qualified, overload.intrinsic));
  try {
    return f->second(HostCall(bundle, overload, test, device));
  } catch (const Error& e) {
    if (e.code() == ErrorCode::internal) throw;
    Expected refused;
    refused.error = CaughtError{e.code(), e.what()};
    return refused;
  }
}

}  // namespace primset::conformance
