// Errors that are found where no argument's name is known: a dim among the dims of a value, a shape
// among shapes. They carry what was found, by which trace() tells the arguments of the call.
#ifndef PRIMSET_DECOMPS_ENGINE_ARGUMENT_ERRORS_H_
#define PRIMSET_DECOMPS_ENGINE_ARGUMENT_ERRORS_H_

#include <primset/error.h>

#include <cstdint>
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

// The same errors with the arguments of the call that they are about, where its values tell them.
Error in_arguments(const DimensionError& e, const specs::Overload& overload,
                   const std::vector<Actual>& args);
Error in_arguments(const BroadcastError& e, const specs::Overload& overload,
                   const std::vector<Actual>& args);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_ARGUMENT_ERRORS_H_
