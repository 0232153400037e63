// The interface of decompositions: traced values, symbolic integers and the primitives.
// decomposition.h adds arithmetic between values, broadcasting and shapes.
//
//   Val native_layer_norm_mean(Tracer& t, const Val& x) {
//     return mean(x, {-1}, true);          // another operator's decomposition, inlined
//   }
//
// A decomposition is pure: it receives values and returns values. The engine (engine.h) handles
// views, in-place writes, out=, output strides, and the argument checks that the spec states.
// Numbers that may change from call to call without another plan are ScalarArgs and SymInts;
// comparing a SymInt records a guard. A Tracer is used by one thread.
#ifndef PRIMSET_DECOMPS_ENGINE_TRACER_H_
#define PRIMSET_DECOMPS_ENGINE_TRACER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "decomps/engine/device_traits.h"
#include "decomps/engine/formula/expansion.h"
#include "prims/graph/builder.h"
#include "prims/graph/large_variant.h"
#include "primset/dtype.h"
#include "primset/error.h"
#include "primset/scalar.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;

class Tracer;

// A traced array. Copying it copies a handle. A Val that stands for a Scalar ("wrapped number", as
// ATen calls it) has rank 0 and takes part in promotion with the lowest priority.
class Val {
 public:
  Val() = default;
  Val(Tracer* tracer, ValueId id, bool wrapped_number = false)
      : tracer_(tracer), id_(id), wrapped_number_(wrapped_number) {}

  bool valid() const { return tracer_ != nullptr; }
  Tracer& tracer() const { return *tracer_; }
  ValueId id() const { return id_; }
  bool wrapped_number() const { return wrapped_number_; }

  DType dtype() const;
  SymInts shape() const;  // a copy: the graph's own list moves when the graph grows
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  // Size along dim, which may be negative; throws Error{index} when there is no such dim.
  SymInt size(int64_t dim) const;
  SymInt numel() const;
  bool is_empty() const { return numel() == SymInt(0); }

 private:
  Tracer* tracer_ = nullptr;
  ValueId id_ = prims::kNoValue;
  bool wrapped_number_ = false;
};

// A Scalar argument: its literal kind is part of the plan, its value is a launch parameter (or a
// constant, when the spec calls the argument structural).
struct ScalarArg {
  Val value;  // rank 0, in int64, float64, bool or complex128 by kind; a wrapped number
  Scalar::Kind kind = Scalar::Kind::floating;
  std::optional<Scalar> constant;  // structural arguments and literals

  bool is_integral() const { return kind <= Scalar::Kind::integer; }
  // The constant's value; throws Error{internal} when the argument is a run-time one.
  Scalar known() const;
};

// The counter-based generator a call draws from: seed and offset are launch parameters.
struct RngArg {
  Val seed, offset;  // rank 0, i64
};

enum class Layout : uint8_t {
  strided = 0,
  sparse_coo = 1,
  sparse_csr = 2,
  sparse_csc = 4,
  sparse_bsr = 5,
  sparse_bsc = 6,
};
enum class MemoryFormat : uint8_t {
  contiguous = 0,
  preserve = 1,
  channels_last = 2,
  channels_last_3d = 3
};
struct DeviceArg {
  std::string name;
};
struct StorageArg {};  // no decomposition reads one

// Throws Error: fail(ErrorCode::index, "Dimension out of range (expected ...)").
[[noreturn]] void fail(ErrorCode code, std::string message);
inline void require(bool ok, ErrorCode code, const std::string& message) {
  if (!ok) fail(code, message);
}

// The layout of an argument in its storage. Values have no memory; this is for the few operators
// whose result depends on it.
struct MemoryPlace {
  SymInts strides;
  SymInt offset = 0;  // of the first element; both in elements
};

class Tracer {
 public:
  Tracer(prims::Graph& graph, const specs::Bundle& bundle, DeviceTraits device = {});

  prims::Builder& builder() { return builder_; }
  const specs::Bundle& bundle() const { return bundle_; }
  const DeviceTraits& device() const { return device_; }
  Expansion& formulas() { return formulas_; }
  prims::SymContext& symbols() { return builder_.graph().context(); }

  // Leaves.
  Val constant(Scalar v, DType dtype, SymInts shape = {});
  Val constant(const SymInt& v, DType dtype, SymInts shape = {});
  template <typename T>
    requires std::is_arithmetic_v<T>
  Val constant(T v, DType dtype, SymInts shape = {}) {
    return constant(Scalar(v), dtype, std::move(shape));
  }
  Val iota(SymInts shape, int64_t dim, DType dtype);
  Val scalar(const ScalarArg& s, DType dtype);  // converted to dtype, rank 0
  // The same of a number that becomes an element: a call with one that dtype does not hold is
  // refused (sdk/base/number_fit.h), now or, where the value is a run-time one, before each run.
  Val fitting_scalar(const ScalarArg& s, DType dtype);
  const std::vector<std::pair<ValueId, DType>>& fits() const { return fits_; }

  // Any primitive; operands must fit exactly (no broadcasting or promotion here).
  std::vector<Val> prim(Prim p, const std::vector<Val>& operands,
                        std::vector<prims::Attr> attrs = {},
                        std::vector<prims::Region> regions = {});
  Val prim1(Prim p, const std::vector<Val>& operands, std::vector<prims::Attr> attrs = {}) {
    return prim(p, operands, std::move(attrs))[0];
  }

  // Another operator by name ("sum.dim_IntList"), with its own promotion and rounding, inlined.
  // Arguments left out at the end take the schema's defaults.
  struct Argument;
  std::vector<Val> call(std::string_view qualified, const std::vector<Argument>& args);
  Val call1(std::string_view qualified, const std::vector<Argument>& args);

  // Reserves `count` counters of the generator, for a random_* primitive. An operator without a
  // Generator argument draws from the default generator.
  RngArg draw(const SymInt& count, const std::optional<RngArg>& from = {});
  const SymInt& drawn() const { return drawn_; }
  void set_default_generator(std::function<RngArg()> make) { make_generator_ = std::move(make); }

  // The layout of an operator's own tensor argument; contiguous for any other value.
  MemoryPlace place_of(const Val& x) const;
  void set_place(ValueId argument, MemoryPlace place) { places_[argument] = std::move(place); }

  Val wrap(ValueId id) { return Val(this, id); }
  std::vector<Val> wrap(const std::vector<ValueId>& ids);
  // A literal as an argument.
  ScalarArg literal(Scalar s);

  // A scalar region for map, reduce and scan: parameters are rank-0 Vals of the given dtypes.
  prims::Region scalar_region(const std::vector<DType>& params,
                              const std::function<std::vector<Val>(const std::vector<Val>&)>& body);
  // A region of for_loop, while_loop or cond over whole arrays.
  prims::Region region(const std::vector<prims::ValueType>& params,
                       const std::function<std::vector<Val>(const std::vector<Val>&)>& body);

 private:
  prims::Builder builder_;
  const specs::Bundle& bundle_;
  const DeviceTraits device_;
  Expansion formulas_;
  SymInt drawn_ = 0;
  std::vector<std::pair<ValueId, DType>> fits_;
  std::function<RngArg()> make_generator_;
  std::map<ValueId, MemoryPlace> places_;
};

// One actual argument of an operator while tracing.
struct Tracer::Argument {
  using Value = LargeVariant<std::variant<
      std::monostate, Val, std::vector<Val>, std::vector<std::optional<Val>>, ScalarArg,
      std::vector<ScalarArg>, SymInt, SymInts, double, std::vector<double>, bool, std::vector<bool>,
      std::string, DType, Layout, MemoryFormat, DeviceArg, RngArg, StorageArg>>;
  Argument() = default;
  template <typename T>
    requires std::is_constructible_v<Value, T>
  Argument(T v) : value(std::move(v)) {}              // NOLINT: converts silently
  Argument(int64_t v) : value(SymInt(v)) {}           // NOLINT
  Argument(int v) : value(SymInt(v)) {}               // NOLINT
  Argument(const char* v) : value(std::string(v)) {}  // NOLINT
  Argument(const std::vector<int64_t>& v) : value(SymInts(v.begin(), v.end())) {}  // NOLINT
  template <typename T>
  Argument(const std::optional<T>& v) {  // NOLINT: an empty one is None
    if (v) *this = Argument(*v);
  }

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  Value value;
};

}  // namespace primset::decomps

extern template class primset::LargeVariant<
    primset::decomps::Tracer::Argument::Value::Alternatives>;

#endif  // PRIMSET_DECOMPS_ENGINE_TRACER_H_
