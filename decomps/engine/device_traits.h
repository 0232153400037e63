// What a decomposition may know of the device that its values are computed on.
#ifndef PRIMSET_DECOMPS_ENGINE_DEVICE_TRAITS_H_
#define PRIMSET_DECOMPS_ENGINE_DEVICE_TRAITS_H_

namespace primset::decomps {

struct DeviceTraits {
  // f64 takes a small multiple of f32's time, as on CPUs, and not twenty times as much.
  bool quick_f64 = false;
  // f32 denormals may count as zeros, before an operation or behind it.
  bool flush_f32 = false;
};

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_DEVICE_TRAITS_H_
