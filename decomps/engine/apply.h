// One operator applied to traced values: promotion and broadcasting as its overload states, then
// its formula or function, then the conversion to the result's dtype.
#ifndef PRIMSET_DECOMPS_ENGINE_APPLY_H_
#define PRIMSET_DECOMPS_ENGINE_APPLY_H_

#include <vector>

#include "decomps/engine/engine.h"
#include "decomps/engine/tracer.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

using Arguments = std::vector<Tracer::Argument>;

// `args` follow the schema of `overload`, out= arguments aside. The results are flattened. For
// in-place, out= and mutable overloads they are what the functional base computes.
std::vector<Val> apply(Tracer& t, const specs::Overload& overload, Arguments args);

// Fills in the schema's defaults behind the arguments given.
Arguments with_defaults(Tracer& t, const specs::Overload& overload, Arguments given);
Tracer::Argument default_argument(Tracer& t, const specs::Argument& arg);

// The arguments of `overload` in the order of `computed`, the overload that computes it: by name,
// else by position.
Arguments rearrange(Tracer& t, const specs::Overload& overload, const specs::Overload& computed,
                    Arguments args);

// An operand of promotion, and the dtype of a number of this kind.
PromotionOperand operand_of(const Val& v);
DType kind_dtype(Scalar::Kind kind);

// The dtypes that promotion gives a call.
struct Promoted {
  bool any = false;  // false: the overload promotes nothing
  DType common = DType::f32;
  DType result = DType::f32;
};
Promoted promotion_of(const specs::Overload& overload, const Arguments& args);
// The dtype that a call names for its results.
std::optional<DType> named_dtype(const Arguments& args);

// A result converted to the dtype of the tensor that receives it. Throws in ATen's words where the
// conversion is not allowed.
Val taken_as(const Val& v, DType to);

// Throws Error{not_implemented}, in ATen's words, unless the overload supports this dtype.
void require_dtype(const specs::Overload& overload, DType common);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_APPLY_H_
