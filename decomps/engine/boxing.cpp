#include "decomps/engine/boxing.h"

#include <fmt/format.h>

namespace primset::decomps {
namespace {

[[noreturn]] void wrong_kind(const char* wanted, const Tracer::Argument& a) {
  fail(ErrorCode::internal,
       fmt::format("an argument of kind {} stands where {} is taken", a.value.index(), wanted));
}

template <typename T>
const T& exactly(const Tracer::Argument& a, const char* wanted) {
  if (const T* v = std::get_if<T>(&a.value)) return *v;
  wrong_kind(wanted, a);
}

template <typename T>
std::vector<int64_t> specialized(const T& list) {
  std::vector<int64_t> out;
  for (const SymInt& s : list) out.push_back(s.specialize());
  return out;
}

}  // namespace

template <>
Val unbox<Val>(Tracer& t, const Tracer::Argument& a) {
  if (auto* v = std::get_if<Val>(&a.value)) return *v;
  return unbox<ScalarArg>(t, a).value;  // a number where a tensor is taken
}

template <>
std::vector<Val> unbox<std::vector<Val>>(Tracer& t, const Tracer::Argument& a) {
  if (auto* v = std::get_if<Val>(&a.value)) return {*v};
  return exactly<std::vector<Val>>(a, "a list of tensors");
}

template <>
std::vector<std::optional<Val>> unbox<std::vector<std::optional<Val>>>(Tracer& t,
                                                                       const Tracer::Argument& a) {
  if (auto* list = std::get_if<std::vector<Val>>(&a.value)) return {list->begin(), list->end()};
  return exactly<std::vector<std::optional<Val>>>(a, "a list of optional tensors");
}

template <>
ScalarArg unbox<ScalarArg>(Tracer& t, const Tracer::Argument& a) {
  if (auto* v = std::get_if<ScalarArg>(&a.value)) return *v;
  if (auto* v = std::get_if<double>(&a.value)) return t.literal(*v);
  if (auto* v = std::get_if<bool>(&a.value)) return t.literal(*v);
  if (auto* v = std::get_if<SymInt>(&a.value)) {
    if (v->is_constant()) return t.literal(v->constant());
    return {Val(&t, t.constant(*v, DType::i64).id(), true), Scalar::Kind::integer, std::nullopt};
  }
  if (auto* v = std::get_if<Val>(&a.value)) {
    const DType d = v->dtype();
    const auto kind = is_complex(d)    ? Scalar::Kind::complex
                      : is_floating(d) ? Scalar::Kind::floating
                      : is_bool(d)     ? Scalar::Kind::boolean
                                       : Scalar::Kind::integer;
    if (v->rank() == 0) return {Val(&t, v->id(), true), kind, std::nullopt};
  }
  wrong_kind("a Scalar", a);
}

template <>
std::vector<ScalarArg> unbox<std::vector<ScalarArg>>(Tracer& t, const Tracer::Argument& a) {
  if (auto* list = std::get_if<std::vector<double>>(&a.value)) {
    std::vector<ScalarArg> out;
    for (double v : *list) out.push_back(t.literal(v));
    return out;
  }
  return exactly<std::vector<ScalarArg>>(a, "a list of Scalars");
}

template <>
SymInt unbox<SymInt>(Tracer& t, const Tracer::Argument& a) {
  if (auto* s = std::get_if<ScalarArg>(&a.value); s && s->constant) return s->constant->to_int();
  return exactly<SymInt>(a, "an integer");
}

template <>
SymInts unbox<SymInts>(Tracer& t, const Tracer::Argument& a) {
  if (auto* v = std::get_if<SymInt>(&a.value)) return {*v};
  return exactly<SymInts>(a, "a list of integers");
}

template <>
int64_t unbox<int64_t>(Tracer& t, const Tracer::Argument& a) {
  return unbox<SymInt>(t, a).specialize();
}

template <>
std::vector<int64_t> unbox<std::vector<int64_t>>(Tracer& t, const Tracer::Argument& a) {
  return specialized(unbox<SymInts>(t, a));
}

template <>
double unbox<double>(Tracer& t, const Tracer::Argument& a) {
  if (auto* v = std::get_if<double>(&a.value)) return *v;
  return unbox<ScalarArg>(t, a).known().to_double();
}

template <>
std::vector<double> unbox<std::vector<double>>(Tracer& t, const Tracer::Argument& a) {
  return exactly<std::vector<double>>(a, "a list of numbers");
}

template <>
bool unbox<bool>(Tracer& t, const Tracer::Argument& a) {
  if (auto* s = std::get_if<ScalarArg>(&a.value); s && s->constant) return s->constant->to_bool();
  return exactly<bool>(a, "a bool");
}

template <>
std::vector<bool> unbox<std::vector<bool>>(Tracer& t, const Tracer::Argument& a) {
  return exactly<std::vector<bool>>(a, "a list of bools");
}

template <>
std::string unbox<std::string>(Tracer& t, const Tracer::Argument& a) {
  return exactly<std::string>(a, "a string");
}

template <>
DType unbox<DType>(Tracer& t, const Tracer::Argument& a) {
  return exactly<DType>(a, "a dtype");
}

template <>
Layout unbox<Layout>(Tracer& t, const Tracer::Argument& a) {
  return exactly<Layout>(a, "a layout");
}

template <>
MemoryFormat unbox<MemoryFormat>(Tracer& t, const Tracer::Argument& a) {
  return exactly<MemoryFormat>(a, "a memory format");
}

template <>
DeviceArg unbox<DeviceArg>(Tracer& t, const Tracer::Argument& a) {
  return exactly<DeviceArg>(a, "a device");
}

template <>
RngArg unbox<RngArg>(Tracer& t, const Tracer::Argument& a) {
  if (a.is_none()) return {};  // the default generator
  return exactly<RngArg>(a, "a generator");
}

template <>
StorageArg unbox<StorageArg>(Tracer& t, const Tracer::Argument& a) {
  return exactly<StorageArg>(a, "a storage");
}

void flatten(std::vector<Val>& out, Val v) {
  out.push_back(v);
}
void flatten(std::vector<Val>& out, std::vector<Val> v) {
  out.insert(out.end(), v.begin(), v.end());
}

}  // namespace primset::decomps
