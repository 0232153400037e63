#include "conformance/reference/call_arguments.h"

#include "prims/reference/element.h"
#include "prims/reference/float_format.h"
#include "primset/error.h"

namespace primset::conformance {
namespace {

using decomps::Actual;
using decomps::InputSource;
using decomps::TensorMeta;
using prims::SymInts;

class Converter {
 public:
  TensorMeta meta(const HostTensor& t) {
    TensorMeta m;
    m.dtype = t.dtype;
    m.sizes = SymInts(t.sizes.begin(), t.sizes.end());
    m.strides = SymInts(t.strides.begin(), t.strides.end());
    m.storage_offset = t.offset;
    m.identity = identity(t);
    m.wrapped_number = t.wrapped_number;
    return m;
  }

  Actual operator()(std::monostate) { return {}; }
  Actual operator()(const HostTensor& t) { return {meta(t)}; }
  Actual operator()(const TensorList& list) {
    if (kind_ == specs::ArgKind::optional_tensor_list) {
      std::vector<std::optional<TensorMeta>> out;
      for (const auto& t : list) out.push_back(t ? std::optional(meta(*t)) : std::nullopt);
      return {out};
    }
    std::vector<TensorMeta> out;
    for (const auto& t : list) out.push_back(meta(t.value()));
    return {out};
  }
  Actual operator()(int64_t v) { return {prims::SymInt(v)}; }
  Actual operator()(const std::vector<int64_t>& v) { return {SymInts(v.begin(), v.end())}; }
  Actual operator()(DeviceUnderTest) { return {decomps::DeviceArg{"cpu"}}; }
  Actual operator()(RngState) { return {decomps::RngArg{}}; }
  Actual operator()(Layout v) { return {static_cast<decomps::Layout>(v)}; }
  Actual operator()(MemoryFormat v) { return {static_cast<decomps::MemoryFormat>(v)}; }
  Actual operator()(OutTensor) {
    throw Error(ErrorCode::internal, "an out= tensor of a case was not made yet");
  }
  template <typename T>
  Actual operator()(const T& v) {
    return {v};
  }

  specs::ArgKind kind_ = specs::ArgKind::tensor;

 private:
  uint32_t identity(const HostTensor& t) {
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] == t) return static_cast<uint32_t>(i);
    }
    seen_.push_back(t);
    return static_cast<uint32_t>(seen_.size() - 1);
  }

  std::vector<HostTensor> seen_;
};

Element number(const Scalar& s, DType t) {
  Element e;
  if (is_integral(t) || is_bool(t)) {
    e.integer = is_bool(t) ? s.to_bool() : prims::reference::wrap(s.to_int(), t);
  } else {
    e.re = prims::reference::round_to(static_cast<long double>(s.to_double()), t);
    if (s.is_integral()) e.re = prims::reference::round_to(static_cast<long double>(s.to_int()), t);
    if (is_complex(t)) e.im = prims::reference::round_to(static_cast<long double>(s.imag()), t);
  }
  return e;
}

}  // namespace

Scalar scalar_of(const ArgValue& v, uint32_t element) {
  if (auto* s = std::get_if<Scalar>(&v)) return *s;
  if (auto* l = std::get_if<std::vector<Scalar>>(&v)) return l->at(element);
  if (auto* i = std::get_if<int64_t>(&v)) return Scalar(*i);
  if (auto* l = std::get_if<std::vector<int64_t>>(&v)) return Scalar(l->at(element));
  if (auto* d = std::get_if<double>(&v)) return Scalar(*d);
  if (auto* l = std::get_if<std::vector<double>>(&v)) return Scalar(l->at(element));
  if (auto* b = std::get_if<bool>(&v)) return Scalar(*b);
  throw Error(ErrorCode::internal, "a graph wants a number where a case has none");
}

namespace {

RngState rng_of(const TestCase& test) {
  for (const ArgValue& v : test.args) {
    if (auto* r = std::get_if<RngState>(&v)) return *r;
  }
  return kDefaultRng;
}

}  // namespace

std::vector<Actual> to_actuals(const TestCase& test,
                               const std::vector<specs::Argument>& arguments) {
  Converter convert;
  std::vector<Actual> out;
  for (size_t i = 0; i < test.args.size(); ++i) {
    convert.kind_ = arguments.at(i).kind;
    out.push_back(std::visit([&](const auto& v) { return convert(v); }, test.args[i]));
  }
  return out;
}

const HostTensor& source_tensor(const TestCase& test, const InputSource& source) {
  const ArgValue& v = test.args.at(source.argument);
  if (auto* t = std::get_if<HostTensor>(&v)) return *t;
  if (auto* list = std::get_if<TensorList>(&v)) return list->at(source.element).value();
  throw Error(ErrorCode::internal, "a graph wants a tensor where a case has none");
}

const HostTensor& argument_tensor(const TestCase& test, uint32_t argument) {
  return source_tensor(test, {InputSource::Kind::tensor, argument, 0});
}

Array input_value(const TestCase& test, const InputSource& source, const prims::ValueType& type) {
  if (source.kind == InputSource::Kind::tensor) {
    return read(test.storages, source_tensor(test, source));
  }
  Scalar s;
  // A Scalar in a tensor's place travels as a number, too.
  bool wrapped = source.kind == InputSource::Kind::scalar &&
                 std::holds_alternative<HostTensor>(test.args.at(source.argument));
  if (wrapped) {
    Array one = read(test.storages, source_tensor(test, source));
    Element e = prims::reference::convert(one.data.at(0), one.dtype, type.dtype);
    return {type.dtype, {}, {e}};
  }
  if (source.kind == InputSource::Kind::rng_seed) {
    s = Scalar(static_cast<int64_t>(rng_of(test).seed));
  } else if (source.kind == InputSource::Kind::rng_offset) {
    s = Scalar(static_cast<int64_t>(rng_of(test).offset));
  } else {
    s = scalar_of(test.args.at(source.argument), source.element);
  }
  return {type.dtype, {}, {number(s, type.dtype)}};
}

}  // namespace primset::conformance
