// One operator applied to traced values: what its overload says about promotion and broadcasting,
// then its formula or function, then the conversion to the result's dtype.
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

// The arguments of `overload` in the order of `computed`, which computes it: by name, else by
// place.
Arguments rearrange(Tracer& t, const specs::Overload& overload, const specs::Overload& computed,
                    Arguments args);

// How an operand takes part in promotion, and the dtype that a number of this kind stands for.
PromotionOperand operand_of(const Val& v);
DType kind_dtype(Scalar::Kind kind);

// How the promoted arguments of a call fit together.
struct Promoted {
  bool any = false;  // false: the overload promotes nothing
  DType common = DType::f32;
  DType result = DType::f32;
};
Promoted promotion_of(const specs::Overload& overload, const Arguments& args);

// A result in the dtype of the tensor that takes it. Throws in ATen's words where that cannot.
Val taken_as(const Val& v, DType to);

// Throws not_implemented, in ATen's words, unless the overload takes this dtype.
void require_dtype(const specs::Overload& overload, DType common);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_APPLY_H_
