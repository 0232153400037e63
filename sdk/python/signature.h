// An operator's schema in the form that calls from Python are bound with.
#ifndef PRIMSET_SDK_PYTHON_SIGNATURE_H_
#define PRIMSET_SDK_PYTHON_SIGNATURE_H_

#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace primset::python {

enum class Kind : uint8_t {
  tensor,
  scalar,
  integer,
  floating,
  boolean,
  string,
  dtype,
  layout,
  memory_format,
  device,
  generator,
  storage,
};

struct Type {
  Kind kind = Kind::tensor;
  bool list = false;
  bool optional = false;          // of the list where it is one
  bool optional_element = false;  // Tensor?[]
  int fixed_size = 0;             // int[2]: 2
  bool writes = false;            // (a!)
  std::string alias;              // "a" in (a), (a!), (a -> *)
  std::string text;               // "Tensor?", "int[2]": as errors spell it
};

struct Parameter : Type {
  std::string name;
  PyObject* interned = nullptr;  // the name; lives as long as the interpreter
  bool keyword_only = false;
  std::string fallback;  // the default's text; empty when the argument must be given
};

struct Signature {
  // "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". Throws Error{internal}
  // for a text that is no schema.
  explicit Signature(std::string_view schema);

  std::string base;      // "add"
  std::string overload;  // "Tensor"; "" for the default one
  std::string schema;
  std::vector<Parameter> parameters;
  size_t positional = 0;  // of them
  std::vector<Type> returns;
  bool writes = false;    // some parameter
  bool has_outs = false;  // keyword-only written tensors without a default: an out= overload
};

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_SIGNATURE_H_
