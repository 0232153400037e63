// The name of a case, everywhere: on the command line, in results, reports and expectations.
//
//   add.Tensor:dtype=f16;case=broadcast_2;layout=strided
//   prim/reduce_sum:dtype=f32;case=last_dim
//
// An id without a layout means contiguous; it is never written.
#ifndef PRIMSET_CONFORMANCE_CASES_IDS_ID_H_
#define PRIMSET_CONFORMANCE_CASES_IDS_ID_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "primset/dtype.h"

namespace primset::conformance {

enum class Level : uint8_t { primitive, op };

inline constexpr std::string_view kContiguous = "contiguous";

struct CaseId {
  Level level = Level::op;
  std::string subject;  // an overload ("add.Tensor", "relu") or a primitive ("reduce_sum")
  DType dtype = DType::f32;
  std::string case_name;
  std::string layout{kContiguous};

  std::string to_string() const;
  // Throws Error{value} saying what is wrong with the text.
  static CaseId parse(std::string_view text);

  friend auto operator<=>(const CaseId&, const CaseId&) = default;
};

// The part of an id before its ':'.
std::string_view subject_of(std::string_view id);

// The same for equal texts on every machine: shards and random values follow from it.
uint64_t stable_hash(std::string_view text, uint64_t seed = 0);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_IDS_ID_H_
