// From Python objects to the arguments of an operator, and from its results back.
#ifndef PRIMSET_SDK_PYTHON_CONVERT_H_
#define PRIMSET_SDK_PYTHON_CONVERT_H_

#include <nanobind/nanobind.h>
#include <primset/detail/call.h>

#include <forward_list>
#include <memory>
#include <string>
#include <vector>

#include "sdk/python/signature.h"

namespace primset::python {

// What converted arguments point to; it lives as long as the call. Nothing is allocated for calls
// whose arguments are tensors, real numbers and short lists.
class Scratch {
 public:
  const Scalar& keep(const Scalar& s) {
    if (scalars_ < std::size(scalar_)) return scalar_[scalars_++] = s;
    return more_scalars_.emplace_front(s);
  }
  std::span<int64_t> ints(size_t n) {
    if (ints_ + n <= std::size(int_)) return {int_ + std::exchange(ints_, ints_ + n), n};
    return more_ints_.emplace_front(n);
  }
  std::forward_list<std::vector<Tensor>> tensors;
  std::forward_list<std::vector<double>> doubles;
  std::forward_list<std::vector<Scalar>> scalar_lists;
  std::forward_list<std::unique_ptr<bool[]>> bools;
  std::forward_list<std::string> strings;

 private:
  Scalar scalar_[4];
  int64_t int_[32];
  size_t scalars_ = 0, ints_ = 0;
  std::forward_list<Scalar> more_scalars_;
  std::forward_list<std::vector<int64_t>> more_ints_;
};

// exact: a value is of the parameter's kind. converts: numbers where tensors are expected, one
// integer where a list of fixed size is, a tensor of one element where a number is.
enum class Strictness : uint8_t { exact, converts };

// Whether `o` fits `type`; then `out` is the argument.
bool convert(const Type& type, PyObject* o, Strictness strictness, detail::Arg& out,
             Scratch& scratch);

// New reference.
PyObject* to_python(const Value& value);

// An array of another library, which primset.from_dlpack makes a Tensor of.
bool is_foreign_array(PyObject* o);
// "Tensor", "int", "List[int]": as errors name what was found.
std::string kind_of(PyObject* o, int depth = 0);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_CONVERT_H_
