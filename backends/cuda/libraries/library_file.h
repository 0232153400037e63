// Libraries of the CUDA toolkit, opened at run time like the driver: a machine without one only
// loses a faster way, and the plugin builds without any.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_LIBRARY_FILE_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_LIBRARY_FILE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "backends/common/shared_library.h"

namespace primset_cuda {

struct LibraryFile {
  const char* file;  // as dlopen takes it
  int toolkit;       // the major version of CUDA that it is part of; 0: whichever it is
};

struct Library {
  const char* name;                         // "cuFFT"
  const char* setting;                      // environment variable: a file, or "off"
  std::span<const LibraryFile> candidates;  // best first
};

// Takes a library's functions; what it says is why the library cannot be used, empty if it can.
using BindLibrary = std::function<std::string(primset_backend::SharedLibrary& library)>;

// Opens the first candidate that a driver of `driver_version` (13000 for CUDA 13.0) can run and
// that can be bound, or the file that the setting names, and keeps it. False when there is none;
// `why` then says so when that is worth a warning, and else is empty.
bool open_library(const Library& library, int driver_version, const BindLibrary& bind,
                  std::string& why);

// Empty when `version` is from `oldest` on and below `end`.
std::string wrong_version(const primset_backend::SharedLibrary& library, int64_t version,
                          int64_t oldest, int64_t end);

}  // namespace primset_cuda

// Members of a struct of functions, and what sets them, from a table of X(what a function returns,
// its name in the library, its parameters).
#define PRIMSET_LIBRARY_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
#define PRIMSET_LIBRARY_NEED(result, name, parameters) library.need(name, #name);
#define PRIMSET_LIBRARY_WANT(result, name, parameters) library.want(name, #name);

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_LIBRARY_FILE_H_
