// A library that is opened at run time: a plugin loads on machines without it, and then has no
// devices, or only lacks a faster way.
#ifndef PRIMSET_BACKENDS_COMMON_SHARED_LIBRARY_H_
#define PRIMSET_BACKENDS_COMMON_SHARED_LIBRARY_H_

#include <string>

namespace primset_backend {

// Never closed: drivers leave threads and exit handlers behind that live in its address space.
class SharedLibrary {
 public:
  // `file` as dlopen takes it; outlives this.
  explicit SharedLibrary(const char* file);
  // Whether the process has it open already, whoever opened it.
  static bool is_open(const char* file);
  // False when it cannot be opened.
  explicit operator bool() const { return handle_ != nullptr; }

  // Sets a function to the one of that name; what is missed first is told.
  template <typename Function>
  void need(Function*& function, const char* name) {
    want(function, name);
    if (!function && missing_.empty()) missing_ = std::string(file_) + " has no " + name;
  }
  // One that only newer versions have, else null.
  template <typename Function>
  void want(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(find(name));
  }

  const char* file() const { return file_; }
  // "libcuda.so.1 has no cuInit", or why there is no library; empty when nothing is missing.
  const std::string& missing() const { return missing_; }

 private:
  void* find(const char* name) const;

  const char* file_;
  void* handle_;
  std::string missing_;
};

}  // namespace primset_backend

// For a struct of the functions that an API's header declares, from a table of X(name): its
// members, and what sets them from a `library`.
#define PRIMSET_DECLARED_MEMBER(name) decltype(&::name) name = nullptr;
#define PRIMSET_DECLARED_NEED(name) library.need(name, #name);

#endif  // PRIMSET_BACKENDS_COMMON_SHARED_LIBRARY_H_
