#include "primset/invoke.h"

#include <fmt/format.h>

#include <algorithm>

#include "primset/detail/call.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/call/dispatch.h"

namespace primset {
namespace runtime {
namespace {

// What the schema's return kind makes of a rank-0 tensor or an intrinsic's answer.
Value number(const Call& call, size_t i, specs::ArgKind kind) {
  if (call.value) return *call.value;
  call.results[i]->retain();
  const Scalar v = Tensor(call.results[i]).item();
  switch (kind) {
    case specs::ArgKind::boolean:
      return v.to_bool();
    case specs::ArgKind::integer:
    case specs::ArgKind::sym_int:
      return v.to_int();
    case specs::ArgKind::floating:
      return v.to_double();
    default:
      return v;
  }
}

// What a call writes without returning it comes last among the results.
size_t returned_count(const Call& call) {
  size_t count = call.origins.size();
  for (const ResultOrigin& o : call.origins) {
    if (o.kind != ResultOrigin::Kind::argument) continue;
    const specs::AliasInfo& alias = call.op.args[o.argument].spec->alias;
    const bool returned =
        std::ranges::any_of(call.op.overload.returns,
                            [&](const specs::Return& r) { return r.alias.letter == alias.letter; });
    if (alias.writes && !returned) --count;
  }
  return count;
}

// Where the results of list return `r` end, which begin at `next`: it has as many as the list whose
// new state it is, or all that the returns behind it leave.
size_t end_of_list(const Call& call, size_t r, size_t next) {
  const specs::Overload& o = call.op.overload;
  const int updated = o.updated_arg(o.returns[r]);
  if (updated >= 0) return next + call.args[static_cast<size_t>(updated)].count;
  return returned_count(call) - (o.returns.size() - r - 1);
}

// One Value a return.
std::vector<Value> take_values(Call& call) {
  const auto& returns = call.op.overload.returns;
  std::vector<Value> out;
  size_t next = 0;
  for (size_t r = 0; r < returns.size(); ++r) {
    const specs::ArgKind kind = returns[r].kind;
    if (kind == specs::ArgKind::tensor) {
      out.emplace_back(call.results.take(next++));
    } else if (kind == specs::ArgKind::tensor_list) {
      std::vector<Tensor> list;
      const size_t end = end_of_list(call, r, next);
      while (next < end) list.push_back(call.results.take(next++));
      out.emplace_back(std::move(list));
    } else {
      out.push_back(number(call, next++, kind));
    }
  }
  return out;
}

std::vector<Value> run(Call& call, std::span<const Value> args, std::span<const NamedValue> kwargs,
                       std::vector<ResultOrigin>* origins) {
  BindScratch scratch;
  bind_or_throw(call, args, kwargs, scratch);
  dispatch(call);
  if (origins) origins->assign(call.origins.begin(), call.origins.end());
  return take_values(call);
}

}  // namespace
}  // namespace runtime

using runtime::Call;

std::vector<Value> invoke(std::string_view name, std::span<const Value> args,
                          std::span<const NamedValue> kwargs, std::vector<ResultOrigin>* origins) {
  Call call(runtime::resolve(name, args, kwargs));
  return runtime::run(call, args, kwargs, origins);
}

// --- Operator ------------------------------------------------------------------------------------

Operator::Operator(std::string_view qualified)
    : info_(&runtime::OperatorRegistry::instance().at(qualified)) {}

std::string_view Operator::name() const {
  return info_->overload.qualified;
}
std::string_view Operator::schema() const {
  return info_->overload.schema;
}
std::string_view Operator::family() const {
  return info_->overload.family;
}
DTypeSet Operator::dtypes() const {
  return info_->bundle.dtypes_of(info_->overload);
}
bool Operator::implemented() const {
  return info_->overload.status == specs::Status::implemented || info_->intrinsic;
}

std::vector<Value> Operator::invoke(std::span<const Value> args, std::span<const NamedValue> kwargs,
                                    std::vector<ResultOrigin>* origins) const {
  Call call(*info_);
  return runtime::run(call, args, kwargs, origins);
}

Value Operator::call_one(std::span<const Value> args) const {
  Call call(*info_);
  runtime::BindScratch scratch;
  runtime::bind_or_throw(call, args, {}, scratch);
  runtime::dispatch(call);
  if (info_->all_tensors && info_->overload.returns.size() == 1) return call.results.take(0);
  std::vector<Value> values = runtime::take_values(call);
  if (values.size() != 1)
    throw Error(ErrorCode::type, fmt::format("{} has {} results; use invoke()",
                                             info_->overload.qualified, values.size()));
  return std::move(values[0]);
}

// --- detail --------------------------------------------------------------------------------------

namespace detail {
namespace {

// The call may have made more: what it wrote besides.
void require_results(const Op& op, size_t wanted) {
  const size_t has = op.info().overload.returns.size();
  if (has != wanted)
    throw Error(ErrorCode::type, fmt::format("{} has {} results, not {}", op.name(), has, wanted));
}

}  // namespace

Tensor call_tensor(const Op& op, std::span<const Arg> args) {
  Call call(op.info());
  runtime::bind_unboxed(call, args);
  runtime::dispatch(call);
  require_results(op, 1);
  return call.results.take(0);
}

void call_tensors(const Op& op, std::span<const Arg> args, std::span<Tensor> results) {
  Call call(op.info());
  runtime::bind_unboxed(call, args);
  runtime::dispatch(call);
  require_results(op, results.size());
  for (size_t i = 0; i < results.size(); ++i) results[i] = call.results.take(i);
}

void call_void(const Op& op, std::span<const Arg> args) {
  Call call(op.info());
  runtime::bind_unboxed(call, args);
  runtime::dispatch(call);
}

std::vector<Value> call_values(const Op& op, std::span<const Arg> args) {
  Call call(op.info());
  runtime::bind_unboxed(call, args);
  runtime::dispatch(call);
  return runtime::take_values(call);
}

Value call_value(const Op& op, std::span<const Arg> args) {
  std::vector<Value> values = call_values(op, args);
  if (values.size() != 1)
    throw Error(ErrorCode::type,
                fmt::format("{} has {} results, not one", op.name(), values.size()));
  return std::move(values[0]);
}

namespace {

struct Unboxer {
  Arg operator()(std::monostate) const { return Arg(std::nullopt); }
  Arg operator()(const std::vector<int64_t>& v) const { return Arg(IntList(v)); }
  Arg operator()(const std::vector<double>& v) const { return Arg(std::span<const double>(v)); }
  Arg operator()(const std::vector<Scalar>& v) const { return Arg(std::span<const Scalar>(v)); }
  Arg operator()(const std::string& v) const { return Arg(std::string_view(v)); }
  template <typename T>
  Arg operator()(const T& v) const {
    return Arg(v);
  }
};

}  // namespace

Arg Arg::of(const Value& value) {
  return std::visit(Unboxer{}, value.variant());
}

}  // namespace detail

// --- Value ---------------------------------------------------------------------------------------

std::string_view Value::kind() const {
  constexpr std::string_view kKinds[] = {
      "None",       "Tensor", "Tensor[]",     "Scalar", "Scalar[]",  "int",
      "int[]",      "float",  "float[]",      "bool",   "bool[]",    "str",
      "ScalarType", "Layout", "MemoryFormat", "Device", "Generator", "Storage"};
  static_assert(std::size(kKinds) == std::variant_size_v<Variant>);
  return kKinds[v_.index()];
}

void Value::wrong_kind(std::string_view wanted) const {
  throw Error(ErrorCode::type,
              fmt::format("expected a value of type {} but found {}", wanted, kind()));
}

}  // namespace primset
