// Unboxing: from a list of arguments to the typed parameters of a decomposition, and results back
// to a list.
#ifndef PRIMSET_DECOMPS_ENGINE_BOXING_H_
#define PRIMSET_DECOMPS_ENGINE_BOXING_H_

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "decomps/engine/apply.h"
#include "decomps/engine/registry.h"

namespace primset::decomps {

// One argument as T; throws Error{internal} when it is something else.
template <typename T>
T unbox(Tracer& t, const Tracer::Argument& a);

template <>
Val unbox<Val>(Tracer& t, const Tracer::Argument& a);
template <>
std::vector<Val> unbox<std::vector<Val>>(Tracer& t, const Tracer::Argument& a);
template <>
std::vector<std::optional<Val>> unbox<std::vector<std::optional<Val>>>(Tracer& t,
                                                                       const Tracer::Argument& a);
template <>
ScalarArg unbox<ScalarArg>(Tracer& t, const Tracer::Argument& a);
template <>
std::vector<ScalarArg> unbox<std::vector<ScalarArg>>(Tracer& t, const Tracer::Argument& a);
template <>
SymInt unbox<SymInt>(Tracer& t, const Tracer::Argument& a);
template <>
SymInts unbox<SymInts>(Tracer& t, const Tracer::Argument& a);
template <>
int64_t unbox<int64_t>(Tracer& t, const Tracer::Argument& a);
template <>
std::vector<int64_t> unbox<std::vector<int64_t>>(Tracer& t, const Tracer::Argument& a);
template <>
double unbox<double>(Tracer& t, const Tracer::Argument& a);
template <>
std::vector<double> unbox<std::vector<double>>(Tracer& t, const Tracer::Argument& a);
template <>
bool unbox<bool>(Tracer& t, const Tracer::Argument& a);
template <>
std::vector<bool> unbox<std::vector<bool>>(Tracer& t, const Tracer::Argument& a);
template <>
std::string unbox<std::string>(Tracer& t, const Tracer::Argument& a);
template <>
DType unbox<DType>(Tracer& t, const Tracer::Argument& a);
template <>
Layout unbox<Layout>(Tracer& t, const Tracer::Argument& a);
template <>
MemoryFormat unbox<MemoryFormat>(Tracer& t, const Tracer::Argument& a);
template <>
DeviceArg unbox<DeviceArg>(Tracer& t, const Tracer::Argument& a);
template <>
RngArg unbox<RngArg>(Tracer& t, const Tracer::Argument& a);
template <>
StorageArg unbox<StorageArg>(Tracer& t, const Tracer::Argument& a);

template <typename T>
struct Unboxed {
  static T get(Tracer& t, const Tracer::Argument& a) { return unbox<T>(t, a); }
};
template <typename T>
struct Unboxed<std::optional<T>> {
  static std::optional<T> get(Tracer& t, const Tracer::Argument& a) {
    if (a.is_none()) return std::nullopt;
    return unbox<T>(t, a);
  }
};

void flatten(std::vector<Val>& out, Val v);
void flatten(std::vector<Val>& out, std::vector<Val> v);
template <typename... Ts>
void flatten(std::vector<Val>& out, std::tuple<Ts...> v) {
  std::apply([&](auto&... each) { (flatten(out, each), ...); }, v);
}

// Calls functions of one type with a list of arguments. One instance serves all functions of that
// type, which is why the function is a value here and no template parameter: hundreds of operators
// have a few dozen types.
template <typename R, typename... Params>
std::vector<Val> call_boxed(Decomposition::AnyFunction any, Tracer& t, const Arguments& args) {
  require(args.size() == sizeof...(Params), ErrorCode::internal,
          "a decomposition is called with another number of arguments");
  const auto f = reinterpret_cast<R (*)(Tracer&, Params...)>(any);
  const auto unboxed = [&]<size_t... I>(std::index_sequence<I...>) -> R {
    return f(t, Unboxed<std::remove_cvref_t<Params>>::get(t, args[I])...);
  };
  std::vector<Val> out;
  // An operator without results checks its arguments.
  if constexpr (std::is_void_v<R>)
    unboxed(std::index_sequence_for<Params...>());
  else
    flatten(out, unboxed(std::index_sequence_for<Params...>()));
  return out;
}

template <typename R, typename... Params>
Decomposition boxed(R (*f)(Tracer&, Params...)) {
  return Decomposition(reinterpret_cast<Decomposition::AnyFunction>(f), &call_boxed<R, Params...>);
}

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_BOXING_H_
