// The numbers of a run: scalar arguments, where its random numbers begin, and how launches get
// them.
#include <algorithm>
#include <cstring>

#include "sdk/runtime/execute/runner.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::runtime {
namespace {

Scalar tensor_value(const TensorImpl& t) {
  if (t.host()) return load_scalar(t.dtype, t.host());
  return handle_of(t).item();
}

Scalar scalar_argument(const Arg& arg, uint32_t element) {
  switch (arg.kind) {
    case Arg::Kind::tensor:
      return tensor_value(*static_cast<const TensorImpl*>(arg.pointer));
    case Arg::Kind::tensor_list:
      return tensor_value(*static_cast<const Tensor*>(arg.pointer)[element].impl());
    case Arg::Kind::scalar_list:
      return static_cast<const Scalar*>(arg.pointer)[element];
    case Arg::Kind::float_list:
      return static_cast<const double*>(arg.pointer)[element];
    case Arg::Kind::int_list:
      return static_cast<const int64_t*>(arg.pointer)[element];
    default:
      return scalar_of(arg);
  }
}

template <typename T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace

void Runner::load_scalars() {
  for (const ScalarSource& s : plan_.scalars) {
    if (s.constant) {
      scalars_.push_back(*s.constant);
      continue;
    }
    switch (s.kind) {
      case decomps::InputSource::Kind::rng_seed:
        scalars_.push_back(Scalar(static_cast<int64_t>(position().seed)));
        break;
      case decomps::InputSource::Kind::rng_offset:
        scalars_.push_back(Scalar(static_cast<int64_t>(position().offset)));
        break;
      default:
        scalars_.push_back(scalar_argument(in_.args[s.argument], s.element));
    }
  }
  if (plan_.host_scalars) compute_scalars(*plan_.host_scalars);
}

void Runner::compute_scalars(const HostScalarsPlan& plan) {
  std::vector<Scalar> values;
  for (const uint32_t i : plan.scalars) values.push_back(scalars_[i]);
  for (const Slot s : plan.sizes) values.emplace_back(slots_[s]);
  values = plan.expressions.evaluate(values);
  std::ranges::copy(values, scalars_.end() - static_cast<std::ptrdiff_t>(values.size()));
}

Generator::Position Runner::position() {
  if (drawn_) return position_;
  drawn_ = true;
  const auto counters = static_cast<uint64_t>(slots_[plan_.random_counters]);
  for (const Arg& a : in_.args) {
    if (a.kind != Arg::Kind::generator) continue;
    Generator given = *static_cast<const Generator*>(a.pointer);
    return position_ = given.draw(counters);
  }
  return position_ = default_generator().draw(counters);
}

void Runner::write_scalar(const ScalarPlan& p, std::byte* to) const {
  int64_t integer = 0;
  double real = 0;
  if (p.source == schedule::ScalarParam::Source::integer) {
    integer = slots_[p.index];
    real = static_cast<double>(integer);
  } else if (p.source == schedule::ScalarParam::Source::input) {
    const Scalar& v = scalars_[p.index];
    const DType dtype = plan_.scalars[p.index].dtype;
    if (is_integral(dtype) || is_bool(dtype)) {
      integer = is_bool(dtype) ? v.to_bool() : v.to_int();
      real = static_cast<double>(integer);
    } else {
      real = round_to(dtype, p.part ? v.imag() : v.to_double());
    }
  }  // error_base: every program has an error slot of its own, so codes start at 1
  switch (p.type) {
    case kir::Scalar::f32:
      return put(static_cast<float>(real), to);
    case kir::Scalar::f64:
      return put(real, to);
    case kir::Scalar::i64:
      return put(integer, to);
    default:
      return put(static_cast<int32_t>(integer), to);
  }
}

}  // namespace primset::runtime
