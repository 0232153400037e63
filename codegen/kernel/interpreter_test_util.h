// A vector as a buffer of the interpreter.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_TEST_UTIL_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_TEST_UTIL_H_

#include <span>
#include <vector>

#include "codegen/kernel/interpreter.h"

namespace primset::kir {

template <class T>
InterpreterBuffer buffer(std::vector<T>& data) {
  return {std::as_writable_bytes(std::span(data)), {}};
}

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_TEST_UTIL_H_
