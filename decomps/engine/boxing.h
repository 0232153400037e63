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

inline void flatten(std::vector<Val>& out, Val v) {
  out.push_back(v);
}
inline void flatten(std::vector<Val>& out, std::vector<Val> v) {
  out.insert(out.end(), v.begin(), v.end());
}
template <typename... Ts>
void flatten(std::vector<Val>& out, std::tuple<Ts...> v) {
  std::apply([&](auto&... each) { (flatten(out, each), ...); }, v);
}

// Box<&add::decompose>::call calls the function with a list of arguments.
template <auto f>
struct Box;
template <typename R, typename... Params, R (*f)(Tracer&, Params...)>
struct Box<f> {
  static std::vector<Val> call(Tracer& t, const Arguments& args) {
    require(args.size() == sizeof...(Params), ErrorCode::internal,
            "a decomposition is called with another number of arguments");
    return invoke(t, args, std::index_sequence_for<Params...>());
  }
  template <size_t... I>
  static std::vector<Val> invoke(Tracer& t, const Arguments& args, std::index_sequence<I...>) {
    std::vector<Val> out;
    // An operator without results checks its arguments.
    if constexpr (std::is_void_v<R>)
      f(t, Unboxed<std::remove_cvref_t<Params>>::get(t, args[I])...);
    else
      flatten(out, f(t, Unboxed<std::remove_cvref_t<Params>>::get(t, args[I])...));
    return out;
  }
};

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_BOXING_H_
