// Errors that are found where no argument's name is known: a dim among the dims of a value, a shape
// among shapes, a dtype. They carry what was found, by which trace() tells the arguments of the
// call.
#ifndef PRIMSET_DECOMPS_ENGINE_ARGUMENT_ERRORS_H_
#define PRIMSET_DECOMPS_ENGINE_ARGUMENT_ERRORS_H_

#include <primset/dtype.h>
#include <primset/error.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "decomps/engine/actual.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

// ATen's IndexError for a dim that a value of this rank has not.
class DimensionError : public Error {
 public:
  DimensionError(int64_t dim, int64_t rank);
  int64_t dim() const { return dim_; }

 private:
  int64_t dim_;
};

// ATen's RuntimeError for two sizes at one dim, counted from the last, of shapes that do not
// broadcast.
class BroadcastError : public Error {
 public:
  BroadcastError(int64_t a, int64_t b, int64_t rank, int64_t from_last);
  int64_t a() const { return a_; }
  int64_t b() const { return b_; }
  int64_t from_last() const { return from_last_; }

 private:
  int64_t a_, b_, from_last_;
};

// ATen's NotImplementedError for a dtype that a kernel has no code for.
class DTypeError : public Error {
 public:
  DTypeError(std::string_view kernel, DType dtype);
  DType dtype() const { return dtype_; }

 private:
  DType dtype_;
};

// The same errors with the arguments of the call that they are about, where its values tell them.
Error in_arguments(const DimensionError& e, const specs::Overload& overload,
                   const std::vector<Actual>& args);
Error in_arguments(const BroadcastError& e, const specs::Overload& overload,
                   const std::vector<Actual>& args);

// With the dtypes that the operator takes instead.
Error in_arguments(const DTypeError& e, DTypeSet taken);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_ARGUMENT_ERRORS_H_
