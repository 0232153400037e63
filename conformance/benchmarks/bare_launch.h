// A kernel that adds 16 f32, launched by CUDA's driver and nothing else: what no library can be
// faster than. In the context that is current, on a stream of its own that waits for no other.
#ifndef PRIMSET_CONFORMANCE_BENCHMARKS_BARE_LAUNCH_H_
#define PRIMSET_CONFORMANCE_BENCHMARKS_BARE_LAUNCH_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

class BareLaunch {
 public:
  // Pointers of the device. Exits where the driver does not do as asked.
  BareLaunch(void* a, void* b, void* out) : pointers_{a, b, out} {
    driver_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver_ == nullptr) fail(dlerror());
    const auto load = get<int(void**, const void*)>("cuModuleLoadData");
    const auto find = get<int(void**, void*, const char*)>("cuModuleGetFunction");
    const auto make_stream = get<int(void**, unsigned)>("cuStreamCreate");
    launch_ = get<Launch>("cuLaunchKernel");
    wait_ = get<int(void*)>("cuStreamSynchronize");
    void* module = nullptr;
    if (load(&module, kAdd) != 0) fail("the kernel was not loaded");
    if (find(&kernel_, module, "add") != 0) fail("the kernel was not found");
    constexpr unsigned kNonBlocking = 1;
    if (make_stream(&stream_, kNonBlocking) != 0) fail("no stream was made");
  }
  void run() {
    void* arguments[] = {&pointers_[0], &pointers_[1], &pointers_[2]};
    if (launch_(kernel_, 1, 1, 1, 16, 1, 1, 0, stream_, arguments, nullptr) != 0)
      fail("the kernel was not launched");
  }
  void wait() {
    if (wait_(stream_) != 0) fail("the kernel failed");
  }

 private:
  using Launch = int(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned shared_bytes, void* stream, void** arguments, void** extra);

  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "call_overhead: %s\n", what);
    std::exit(1);
  }
  template <typename F>
  F* get(const char* name) {
    void* found = dlsym(driver_, name);
    if (found == nullptr) fail(name);
    return reinterpret_cast<F*>(found);
  }

  static constexpr const char* kAdd = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out) {
  .reg .b64 %p<4>;
  .reg .b32 %t;
  .reg .f32 %f<3>;
  mov.u32 %t, %tid.x;
  mul.wide.u32 %p3, %t, 4;
  ld.param.u64 %p0, [a];
  ld.param.u64 %p1, [b];
  ld.param.u64 %p2, [out];
  add.u64 %p0, %p0, %p3;
  add.u64 %p1, %p1, %p3;
  add.u64 %p2, %p2, %p3;
  ld.global.f32 %f0, [%p0];
  ld.global.f32 %f1, [%p1];
  add.f32 %f2, %f0, %f1;
  st.global.f32 [%p2], %f2;
  ret;
})";

  void* pointers_[3];
  void* driver_ = nullptr;
  void* kernel_ = nullptr;
  void* stream_ = nullptr;
  Launch* launch_ = nullptr;
  int (*wait_)(void*) = nullptr;
};

#endif  // PRIMSET_CONFORMANCE_BENCHMARKS_BARE_LAUNCH_H_
