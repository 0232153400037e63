// What runs over lists and is no formula of the elements.
#include "decomps/operators/foreach.h"

#include <fmt/format.h>

#include "decomps/engine/promotion.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using List = std::vector<Val>;

// Element i of a vector of numbers, as a Scalar: of integers all digits count.
ScalarArg number_at(Tracer& t, const Val& numbers, size_t i, DType beside) {
  const Val number = real_number(select(numbers, 0, static_cast<int64_t>(i)), beside);
  const auto as = [&](DType type, Scalar::Kind kind) {
    return ScalarArg{Val(&t, convert(number, type).id(), true), kind, std::nullopt};
  };
  if (is_complex(number.dtype())) return as(DType::c128, Scalar::Kind::complex);
  return is_exact(number.dtype()) ? as(DType::i64, Scalar::Kind::integer)
                                  : as(DType::f64, Scalar::Kind::floating);
}

List with_numbers(Tracer& t, const char* op, const List& self, const List& tensor1,
                  const List& tensor2, const Val& scalars) {
  require(!self.empty(), ErrorCode::runtime, "Tensor list must have at least one tensor.");
  require(scalars.rank() == 1, ErrorCode::runtime,
          fmt::format("Expected packed scalar Tensor to be of dimension 1. Got {} instead.",
                      scalars.rank()));
  require(scalars.size(0) == SymInt(static_cast<int64_t>(self.size())), ErrorCode::runtime,
          fmt::format("Expected length of scalars to match input of length {} but got {} instead.",
                      self.size(), scalars.size(0).hint()));
  require(tensor1.size() == self.size() && tensor2.size() == self.size(), ErrorCode::runtime,
          fmt::format("Tensor lists must have the same number of tensors, got {}, {}, and {}",
                      self.size(), tensor1.size(), tensor2.size()));
  List out;
  for (size_t i = 0; i < self.size(); ++i) {
    const DType common =
        promote_types(promote_types(self[i].dtype(), tensor1[i].dtype()), tensor2[i].dtype());
    out.push_back(t.call1(op, {self[i], tensor1[i], tensor2[i], number_at(t, scalars, i, common)}));
  }
  return out;
}

}  // namespace

List _foreach_addcmul_numbers::decompose(Tracer& t, const List& self, const List& tensor1,
                                         const List& tensor2, const Val& scalars) {
  return with_numbers(t, "addcmul", self, tensor1, tensor2, scalars);
}

List _foreach_addcdiv_numbers::decompose(Tracer& t, const List& self, const List& tensor1,
                                         const List& tensor2, const Val& scalars) {
  return with_numbers(t, "addcdiv", self, tensor1, tensor2, scalars);
}

namespace {

// A reduction of each tensor to a number, in the dtype that the call names.
List reduced_each(Tracer& t, const char* op, const List& self, const ScalarArg& order,
                  const std::optional<DType>& dtype) {
  List out;
  for (const Val& v : self)
    out.push_back(t.call1(op, {v, order, Tracer::Argument(), false, dtype}));
  return out;
}

}  // namespace

List _foreach_norm::decompose(Tracer& t, const List& self, const ScalarArg& ord,
                              const std::optional<DType>& dtype) {
  return reduced_each(t, "linalg_vector_norm", self, ord, dtype);
}

List _foreach_powsum::decompose(Tracer& t, const List& self, const ScalarArg& ord,
                                const std::optional<DType>& dtype) {
  return reduced_each(t, "linalg__powsum", self, ord, dtype);
}

}  // namespace primset::decomps
