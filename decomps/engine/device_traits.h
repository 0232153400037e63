// What a decomposition may know of the device (docs/decisions/wide_accumulation.md).
#ifndef PRIMSET_DECOMPS_ENGINE_DEVICE_TRAITS_H_
#define PRIMSET_DECOMPS_ENGINE_DEVICE_TRAITS_H_

namespace primset::decomps {

struct DeviceTraits {
  // f64 arithmetic takes a small multiple of f32's time, as on CPUs, not twenty times as much.
  bool fast_f64 = false;
  // Kernels compute in f64; where they do not, what is no tensor of f64 is computed in f32.
  bool f64 = true;
  // Kernels compute in 64-bit integers; where they do not, indices are computed in i32, and what
  // may be longer is refused.
  bool i64 = true;
  // Operations may flush f32 denormals to zero, in operands or in results.
  bool flush_f32 = false;
  // A scatter that adds takes about as long as its updates do in memory, as on CPUs, where every
  // thread writes places of its own: there are neither atomics nor threads that wait.
  bool fast_scatter = false;
  // To begin a kernel takes no longer than a few thousand operations, as on CPUs, not microseconds
  // in which a GPU computes millions.
  bool fast_launch = false;
};

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_DEVICE_TRAITS_H_
