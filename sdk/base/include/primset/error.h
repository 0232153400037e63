// The one exception type of Primset. A message says what went wrong, in which operator and
// argument, which value was seen and what was expected. Classes follow PyTorch's, since programs
// test for them.
#ifndef PRIMSET_ERROR_H_
#define PRIMSET_ERROR_H_

#include <primset/export.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace primset {

enum class ErrorCode {
  runtime,          // wrong dtype, shape, dim, device, overlap (PyTorch's RuntimeError)
  index,            // an index or dim out of range (IndexError)
  value,            // an argument's value is not allowed (ValueError)
  type,             // an argument of the wrong kind (TypeError)
  not_implemented,  // no such operator, dtype or combination here (NotImplementedError)
  linalg,           // a factorisation failed (LinAlgError)
  out_of_memory,
  device_lost,
  plugin,    // a plugin is missing, of the wrong version, or returned an error
  corrupt,   // a file or serialised object does not parse
  internal,  // Primset's own mistake: please report
};

constexpr const char* name(ErrorCode c) {
  switch (c) {
    case ErrorCode::runtime:
      return "runtime";
    case ErrorCode::index:
      return "index";
    case ErrorCode::value:
      return "value";
    case ErrorCode::type:
      return "type";
    case ErrorCode::not_implemented:
      return "not_implemented";
    case ErrorCode::linalg:
      return "linalg";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::device_lost:
      return "device_lost";
    case ErrorCode::plugin:
      return "plugin";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

class PRIMSET_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message)  // NOLINT: the base class copies it whichever way
      : std::runtime_error(std::move(message)), code_(code) {}  // NOLINT: as above
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace primset

#endif  // PRIMSET_ERROR_H_
