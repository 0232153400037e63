#include "backends/cpu/linalg/blas_api.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "backends/common/blocked_signals.h"
#include "backends/cpu/cpu_info.h"

namespace primset_cpu {
namespace {

template <typename T>
void load(primset_backend::SharedLibrary& library, const std::string& letter, Blas<T>& to) {
  library.need(to.gemm, (letter + "gemm_").c_str());
  library.need(to.trsm, (letter + "trsm_").c_str());
  library.need(to.potrf, (letter + "potrf_").c_str());
}

// A release of OpenBLAS takes a processor that is newer than it for the oldest one, and is five
// times slower there than it could be. The environment may say which kernels to take.
constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

const char* core_entry() {
#if defined(__x86_64__)
  if (cpu_info().vector_bytes >= 64) return "OPENBLAS_CORETYPE=SkylakeX";
  if (cpu_info().vector_bytes >= 32 && cpu_info().fused_fma) return "OPENBLAS_CORETYPE=Haswell";
#endif
  return nullptr;
}

// The environment with one more entry while this stands, unless the user has set it. Threads that
// read it meanwhile see the old list or the new one, and nobody frees either: setenv would.
class CoreInEnvironment {
 public:
  CoreInEnvironment() : before_(environ) {
    const char* const entry = core_entry();
    if (entry == nullptr || std::getenv(kCoreVariable) != nullptr) return;
    static std::vector<char*> list;
    for (char** e = before_; e != nullptr && *e != nullptr; ++e) list.push_back(*e);
    list.push_back(const_cast<char*>(entry));
    list.push_back(nullptr);
    environ = with_core_ = list.data();
  }
  ~CoreInEnvironment() {
    if (with_core_ != nullptr && environ == with_core_) environ = before_;
  }
  CoreInEnvironment(const CoreInEnvironment&) = delete;
  CoreInEnvironment& operator=(const CoreInEnvironment&) = delete;

 private:
  char** before_;
  char** with_core_ = nullptr;
};

// OpenBLAS with threads: what Debian has without any is not safe to call from several. It is told
// to use none, which holds for the whole process: one that the caller has loaded before is left
// alone.
const BlasLibrary* open() {
  const primset_backend::BlockedSignals scope;  // it starts its threads here
  if (primset_backend::SharedLibrary::is_open(PRIMSET_OPENBLAS)) return nullptr;
  const CoreInEnvironment core;
  static BlasLibrary blas(PRIMSET_OPENBLAS);
  if (!blas.library) return nullptr;
  void (*set_num_threads)(int) = nullptr;
  blas.library.need(set_num_threads, "openblas_set_num_threads");
  load(blas.library, "s", blas.f32);
  load(blas.library, "d", blas.f64);
  load(blas.library, "c", blas.c64);
  load(blas.library, "z", blas.c128);
  if (!blas.library.missing().empty()) return nullptr;
  set_num_threads(1);
  return &blas;
}

}  // namespace

const BlasLibrary* blas_library() {
  static const BlasLibrary* const library = open();
  return library;
}

}  // namespace primset_cpu
