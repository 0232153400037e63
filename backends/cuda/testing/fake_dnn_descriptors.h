// What the fake toolkit's cuDNN knows of descriptors and tensors.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DNN_DESCRIPTORS_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DNN_DESCRIPTORS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "backends/common/testing/bf16.h"
#include "backends/cuda/libraries/cudnn_api.h"

namespace fake_toolkit {

using primset_cuda::DnnAttribute;
using primset_cuda::DnnKind;
using primset_cuda::DnnNote;
using primset_cuda::DnnType;
using primset_cuda::DnnValues;

struct Engine {
  int64_t index;
  std::vector<DnnNote> notes;
  size_t workspace_bytes;
  bool has_code = true;
};

struct Description;
using Known = std::shared_ptr<const Description>;

struct Values {
  DnnValues type{};
  std::vector<char> bytes;
  std::vector<Known> descriptors;  // of what are descriptors
};

struct Description {
  DnnKind kind{};
  bool is_final = false;
  std::map<DnnAttribute, Values> values;
  std::optional<Engine> engine;  // of engines and configurations

  bool has(DnnAttribute a) const { return values.contains(a); }
  template <typename T>
  std::vector<T> all(DnnAttribute a) const {
    const auto it = values.find(a);
    if (it == values.end()) return {};
    std::vector<T> out(it->second.bytes.size() / sizeof(T));
    std::memcpy(out.data(), it->second.bytes.data(), out.size() * sizeof(T));
    return out;
  }
  template <typename T>
  T one(DnnAttribute a) const {
    const auto v = all<T>(a);
    return v.empty() ? T{} : v[0];
  }
  const Description& part(DnnAttribute a) const {
    static const Description none;
    const auto it = values.find(a);
    return it == values.end() || it->second.descriptors.empty() ? none : *it->second.descriptors[0];
  }
};

using Index = std::array<int64_t, 5>;

// Up to five dims, of which the last may be of one element.
struct FakeTensor {
  int64_t id = 0;
  DnnType type{};
  bool is_virtual = false, is_by_value = false;
  Index sizes{1, 1, 1, 1, 1}, strides{};

  explicit FakeTensor(const Description& d)
      : id(d.one<int64_t>(DnnAttribute::tensor_id)),
        type(d.one<DnnType>(DnnAttribute::tensor_type)),
        is_virtual(d.one<char>(DnnAttribute::tensor_is_virtual) != 0),
        is_by_value(d.one<char>(DnnAttribute::tensor_is_by_value) != 0) {
    std::ranges::copy(d.all<int64_t>(DnnAttribute::tensor_sizes), sizes.begin());
    std::ranges::copy(d.all<int64_t>(DnnAttribute::tensor_strides), strides.begin());
  }
  size_t width() const { return type == DnnType::f64 ? 8 : type == DnnType::f32 ? 4 : 2; }
  size_t place(const Index& i) const {
    int64_t at = 0;
    for (size_t d = 0; d < 5; ++d) at += i[d] * strides[d];
    return static_cast<size_t>(at);
  }
  size_t bytes() const {
    Index last = sizes;
    for (int64_t& n : last) --n;
    return (place(last) + 1) * width();
  }
  double load(const void* base, const Index& i) const {
    if (type == DnnType::f64) return static_cast<const double*>(base)[place(i)];
    if (type == DnnType::bf16)
      return primset_backend_test::from_bf16(static_cast<const uint16_t*>(base)[place(i)]);
    return static_cast<const float*>(base)[place(i)];
  }
  void store(void* base, const Index& i, double v) const {
    const auto narrow = static_cast<float>(v);
    if (type == DnnType::f64)
      static_cast<double*>(base)[place(i)] = v;
    else if (type == DnnType::f32)
      static_cast<float*>(base)[place(i)] = narrow;
    else
      static_cast<uint16_t*>(base)[place(i)] = primset_backend_test::to_bf16(narrow);
  }
};

template <typename F>
void each(const Index& n, const F& f) {
  Index i{};
  for (i[0] = 0; i[0] < n[0]; ++i[0])
    for (i[1] = 0; i[1] < n[1]; ++i[1])
      for (i[2] = 0; i[2] < n[2]; ++i[2])
        for (i[3] = 0; i[3] < n[3]; ++i[3])
          for (i[4] = 0; i[4] < n[4]; ++i[4]) f(i);
}

// The tensors' addresses by their ids.
using Addresses = std::map<int64_t, void*>;

}  // namespace fake_toolkit

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DNN_DESCRIPTORS_H_
