// cuDNN of the fake toolkit: sums of the definition, of f32 and f64.
#include <array>
#include <cstring>
#include <memory>

#include "backends/cuda/libraries/cudnn_api.h"
#include "backends/cuda/testing/fake_toolkit_world.h"

namespace fake_toolkit {
namespace {

using primset_cuda::DnnChoice;
using primset_cuda::DnnFilter;
using primset_cuda::DnnHandle;
using primset_cuda::DnnMath;
using primset_cuda::DnnTensor;
using primset_cuda::DnnType;
using primset_cuda::DnnWindows;
using primset_cuda::kDnnNotSupported;

using Index = std::array<int, 5>;

// A tensor or filters: up to five dims, of which the last may be of one element.
struct Described {
  DnnType type{};
  int rank = 0;
  Index sizes{1, 1, 1, 1, 1}, strides{};

  size_t bytes() const {
    size_t last = 0;
    for (size_t d = 0; d < 5; ++d) last += static_cast<size_t>((sizes[d] - 1) * strides[d]);
    return (last + 1) * width();
  }
  size_t width() const { return type == DnnType::f64 ? 8 : 4; }
  size_t place(const Index& i) const {
    size_t at = 0;
    for (size_t d = 0; d < 5; ++d) at += static_cast<size_t>(i[d] * strides[d]);
    return at;
  }
  double load(const void* base, const Index& i) const {
    if (type == DnnType::f64) return static_cast<const double*>(base)[place(i)];
    return static_cast<const float*>(base)[place(i)];
  }
  void store(void* base, const Index& i, double v) const {
    if (type == DnnType::f64)
      static_cast<double*>(base)[place(i)] = v;
    else
      static_cast<float*>(base)[place(i)] = static_cast<float>(v);
  }
};

struct Windows {
  int rank = 0, groups = 1;
  std::array<int, 3> padding{}, strides{1, 1, 1}, dilations{1, 1, 1};
  DnnType computed_in{};
  DnnMath math{};
};

std::map<const void*, Described>& all_described() {
  static auto* all = new std::map<const void*, Described>;
  return *all;
}
std::map<const void*, Windows>& all_windows() {
  static auto* all = new std::map<const void*, Windows>;
  return *all;
}

template <typename F>
void each(const Index& n, const F& f) {
  Index i{};
  for (i[0] = 0; i[0] < n[0]; ++i[0])
    for (i[1] = 0; i[1] < n[1]; ++i[1])
      for (i[2] = 0; i[2] < n[2]; ++i[2])
        for (i[3] = 0; i[3] < n[3]; ++i[3])
          for (i[4] = 0; i[4] < n[4]; ++i[4]) f(i);
}

struct Convolved {
  Described x, w, y;
  Windows g;

  // Calls f(at x, at w, at y) for each product.
  template <typename F>
  void each_product(const F& f) const {
    each(y.sizes, [&](const Index& p) {
      each(w.sizes, [&](const Index& k) {
        if (k[0] != p[1]) return;
        Index i{p[0], p[1] / (w.sizes[0] / g.groups) * w.sizes[1] + k[1]};
        for (size_t d = 0; d < static_cast<size_t>(g.rank); ++d) {
          i[d + 2] = p[d + 2] * g.strides[d] - g.padding[d] + k[d + 2] * g.dilations[d];
          if (i[d + 2] < 0 || i[d + 2] >= x.sizes[d + 2]) return;
        }
        f(i, k, p);
      });
    });
  }
  bool fits() const {
    for (size_t d = 0; d < static_cast<size_t>(g.rank); ++d)
      if ((x.sizes[d + 2] + 2 * g.padding[d] - g.dilations[d] * (w.sizes[d + 2] - 1) - 1) /
                  g.strides[d] +
              1 !=
          y.sizes[d + 2])
        return false;
    return x.sizes[1] == w.sizes[1] * g.groups && y.sizes[1] == w.sizes[0];
  }
};

Convolved find_convolved(Call& call, DnnTensor x, DnnFilter w, DnnWindows g, DnnTensor y) {
  call.takes("tensor", x).takes("filter", w).takes("tensor", y).takes("windows", g);
  if (call.status != 0) return {};
  Convolved c{all_described()[x], all_described()[w], all_described()[y], all_windows()[g]};
  call.needs(c.fits(), "sizes of no convolution")
      .needs(c.g.computed_in == c.x.type, "sums of another type");
  return c;
}

int choose(const char* function, DnnHandle handle, DnnTensor x, DnnFilter w, DnnWindows g,
           DnnTensor y, int wanted, int* given, DnnChoice* choices) {
  Call call(function, false);
  find_convolved(call.takes("dnn", handle), x, w, g, y);
  if (call.status != 0) return call.status;
  call.needs(all_windows()[g].math == DnnMath::fma, "f32 that is cut to fewer bits");
  constexpr DnnMath math = DnnMath::default_math;  // as the library may say of f32
  const size_t bytes = world().workspace_bytes;
  // Fastest: by Winograd's transform, what needs too much, what is not deterministic; then what
  // the plugin may take.
  const DnnChoice all[] = {{6, 0, 1, bytes, 1, math, {}},
                           {1, 0, 2, size_t{1} << 40, 1, math, {}},
                           {0, 0, 3, 0, 0, math, {}},
                           {1, kDnnNotSupported, 4, 0, 1, math, {}},
                           {1, 0, 5, bytes, 1, math, {}}};
  *given = 0;
  for (const DnnChoice& c : all)
    if (*given < wanted) choices[(*given)++] = c;
  return 0;
}

int workspace(const char* function, DnnHandle handle, int algorithm, size_t* bytes) {
  Call call(function, false);
  call.takes("dnn", handle).needs(algorithm == 1, "an algorithm that is not to be taken");
  *bytes = world().workspace_bytes;
  return call.status;
}

double scale(const void* at, DnnType type) {
  return type == DnnType::f64 ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
}

// Which of the three is written.
enum class Written { x, w, y };

struct Operands {
  const void* x;
  const void* w;
  const void* y;
};

int convolve(const char* function, DnnHandle handle, const Convolved& c, Call& call,
             const Operands& at, Written written, int algorithm, const void* room, size_t bytes,
             const void* alpha, const void* beta) {
  call.needs(algorithm == 1, "an algorithm that is not to be taken")
      .needs(bytes == world().workspace_bytes, "a workspace of another size");
  if (call.status != 0) return call.status;
  call.reads(at.x, c.x.bytes()).reads(at.w, c.w.bytes()).reads(at.y, c.y.bytes());
  call.reads(room, bytes);
  const double one = scale(alpha, c.x.type), kept = scale(beta, c.x.type);
  call.give(handle, [=] {
    const Described& out = written == Written::x ? c.x : written == Written::w ? c.w : c.y;
    void* const to = const_cast<void*>(written == Written::x   ? at.x
                                       : written == Written::w ? at.w
                                                               : at.y);
    std::map<Index, double> sums;
    c.each_product([&](const Index& x, const Index& w, const Index& y) {
      if (written == Written::x) sums[x] += c.w.load(at.w, w) * c.y.load(at.y, y);
      if (written == Written::w) sums[w] += c.x.load(at.x, x) * c.y.load(at.y, y);
      if (written == Written::y) sums[y] += c.x.load(at.x, x) * c.w.load(at.w, w);
    });
    each(out.sizes, [&](const Index& i) {
      out.store(to, i, one * sums[i] + (kept != 0 ? kept * out.load(to, i) : 0));
    });
  });
  return call.status;
}

}  // namespace
}  // namespace fake_toolkit

using namespace fake_toolkit;

extern "C" FAKE_CUDA_EXPORT size_t cudnnGetVersion() {
  return world().cudnn;
}
extern "C" FAKE_CUDA_EXPORT size_t cudnnGetCudartVersion() {
  return 13000;
}
FAKE_TOOLKIT(cudnnCreate)(DnnHandle* handle) {
  return make_handle(__func__, "dnn", handle);
}
FAKE_TOOLKIT(cudnnDestroy)(DnnHandle handle) {
  return destroy_handle(__func__, "dnn", handle);
}
FAKE_TOOLKIT(cudnnSetStream)(DnnHandle handle, primset_cuda::Stream stream) {
  return set_stream(__func__, "dnn", handle, stream);
}
FAKE_TOOLKIT(cudnnCreateTensorDescriptor)(DnnTensor* tensor) {
  return make_handle(__func__, "tensor", tensor);
}
FAKE_TOOLKIT(cudnnDestroyTensorDescriptor)(DnnTensor tensor) {
  return destroy_handle(__func__, "tensor", tensor);
}
FAKE_TOOLKIT(cudnnCreateFilterDescriptor)(DnnFilter* filter) {
  return make_handle(__func__, "filter", filter);
}
FAKE_TOOLKIT(cudnnDestroyFilterDescriptor)(DnnFilter filter) {
  return destroy_handle(__func__, "filter", filter);
}
FAKE_TOOLKIT(cudnnCreateConvolutionDescriptor)(DnnWindows* windows) {
  return make_handle(__func__, "windows", windows);
}
FAKE_TOOLKIT(cudnnDestroyConvolutionDescriptor)(DnnWindows windows) {
  return destroy_handle(__func__, "windows", windows);
}
FAKE_TOOLKIT(cudnnSetTensorNdDescriptor)(DnnTensor tensor, DnnType type, int rank, const int* sizes,
                                         const int* strides) {
  Call call(__func__, false);
  call.takes("tensor", tensor).needs(rank == 4 || rank == 5, "tensors of four or five dims");
  if (call.status != 0) return call.status;
  if (type != DnnType::f32 && type != DnnType::f64) return kDnnNotSupported;
  Described d{type, rank};
  std::copy_n(sizes, rank, d.sizes.begin());
  std::copy_n(strides, rank, d.strides.begin());
  all_described()[tensor] = d;
  return 0;
}
FAKE_TOOLKIT(cudnnSetFilterNdDescriptor)(DnnFilter filter, DnnType type, int format, int rank,
                                         const int* sizes) {
  Call call(__func__, false);
  call.takes("filter", filter).needs(format == 0, "filters in rows");
  if (call.status != 0) return call.status;
  Described d{type, rank};
  std::copy_n(sizes, rank, d.sizes.begin());
  for (int at = rank, step = 1; at-- > 0; step *= sizes[at])
    d.strides[static_cast<size_t>(at)] = step;
  all_described()[filter] = d;
  return 0;
}
FAKE_TOOLKIT(cudnnSetConvolutionNdDescriptor)(DnnWindows windows, int rank, const int* padding,
                                              const int* strides, const int* dilations, int mode,
                                              DnnType computed_in) {
  Call call(__func__, false);
  call.takes("windows", windows).needs(mode == 1, "filters that are not turned around");
  if (call.status != 0) return call.status;
  Windows g;
  g.rank = rank;
  g.computed_in = computed_in;
  std::copy_n(padding, rank, g.padding.begin());
  std::copy_n(strides, rank, g.strides.begin());
  std::copy_n(dilations, rank, g.dilations.begin());
  all_windows()[windows] = g;
  return 0;
}
FAKE_TOOLKIT(cudnnSetConvolutionGroupCount)(DnnWindows windows, int groups) {
  Call call(__func__, false);
  if (call.takes("windows", windows).status == 0) all_windows()[windows].groups = groups;
  return call.status;
}
FAKE_TOOLKIT(cudnnSetConvolutionMathType)(DnnWindows windows, DnnMath math) {
  Call call(__func__, false);
  call.takes("windows", windows).needs(math == DnnMath::fma, "f32 that is cut to fewer bits");
  if (call.status == 0) all_windows()[windows].math = math;
  return call.status;
}
FAKE_TOOLKIT(cudnnGetConvolutionForwardAlgorithm_v7)(DnnHandle handle, DnnTensor x, DnnFilter w,
                                                     DnnWindows g, DnnTensor y, int wanted,
                                                     int* given, DnnChoice* choices) {
  return choose(__func__, handle, x, w, g, y, wanted, given, choices);
}
FAKE_TOOLKIT(cudnnGetConvolutionBackwardDataAlgorithm_v7)(DnnHandle handle, DnnFilter w,
                                                          DnnTensor y, DnnWindows g, DnnTensor x,
                                                          int wanted, int* given,
                                                          DnnChoice* choices) {
  return choose(__func__, handle, x, w, g, y, wanted, given, choices);
}
FAKE_TOOLKIT(cudnnGetConvolutionBackwardFilterAlgorithm_v7)(DnnHandle handle, DnnTensor x,
                                                            DnnTensor y, DnnWindows g, DnnFilter w,
                                                            int wanted, int* given,
                                                            DnnChoice* choices) {
  return choose(__func__, handle, x, w, g, y, wanted, given, choices);
}
FAKE_TOOLKIT(cudnnGetConvolutionForwardWorkspaceSize)(DnnHandle handle, DnnTensor, DnnFilter,
                                                      DnnWindows, DnnTensor, int algorithm,
                                                      size_t* bytes) {
  return workspace(__func__, handle, algorithm, bytes);
}
FAKE_TOOLKIT(cudnnGetConvolutionBackwardDataWorkspaceSize)(DnnHandle handle, DnnFilter, DnnTensor,
                                                           DnnWindows, DnnTensor, int algorithm,
                                                           size_t* bytes) {
  return workspace(__func__, handle, algorithm, bytes);
}
FAKE_TOOLKIT(cudnnGetConvolutionBackwardFilterWorkspaceSize)(DnnHandle handle, DnnTensor, DnnTensor,
                                                             DnnWindows, DnnFilter, int algorithm,
                                                             size_t* bytes) {
  return workspace(__func__, handle, algorithm, bytes);
}
FAKE_TOOLKIT(cudnnConvolutionForward)(DnnHandle handle, const void* alpha, DnnTensor x,
                                      const void* x_data, DnnFilter w, const void* w_data,
                                      DnnWindows g, int algorithm, void* room, size_t bytes,
                                      const void* beta, DnnTensor y, void* y_data) {
  Call call(__func__);
  const Convolved c = find_convolved(call, x, w, g, y);
  return convolve(__func__, handle, c, call, {x_data, w_data, y_data}, Written::y, algorithm, room,
                  bytes, alpha, beta);
}
FAKE_TOOLKIT(cudnnConvolutionBackwardData)(DnnHandle handle, const void* alpha, DnnFilter w,
                                           const void* w_data, DnnTensor y, const void* y_data,
                                           DnnWindows g, int algorithm, void* room, size_t bytes,
                                           const void* beta, DnnTensor x, void* x_data) {
  Call call(__func__);
  const Convolved c = find_convolved(call, x, w, g, y);
  return convolve(__func__, handle, c, call, {x_data, w_data, y_data}, Written::x, algorithm, room,
                  bytes, alpha, beta);
}
FAKE_TOOLKIT(cudnnConvolutionBackwardFilter)(DnnHandle handle, const void* alpha, DnnTensor x,
                                             const void* x_data, DnnTensor y, const void* y_data,
                                             DnnWindows g, int algorithm, void* room, size_t bytes,
                                             const void* beta, DnnFilter w, void* w_data) {
  Call call(__func__);
  const Convolved c = find_convolved(call, x, w, g, y);
  return convolve(__func__, handle, c, call, {x_data, w_data, y_data}, Written::w, algorithm, room,
                  bytes, alpha, beta);
}
FAKE_TOOLKIT(cudnnAddTensor)(DnnHandle handle, const void* alpha, DnnTensor a, const void* a_data,
                             const void* beta, DnnTensor c, void* c_data) {
  Call call(__func__);
  call.takes("dnn", handle).takes("tensor", a).takes("tensor", c);
  if (call.status != 0) return call.status;
  const Described from = all_described()[a], to = all_described()[c];
  call.reads(a_data, from.bytes()).reads(c_data, to.bytes());
  const double one = scale(alpha, to.type), kept = scale(beta, to.type);
  call.give(handle, [=] {
    each(to.sizes, [&](const Index& i) {
      Index at{};
      for (size_t d = 0; d < 5; ++d) at[d] = from.sizes[d] == 1 ? 0 : i[d];
      to.store(c_data, i,
               one * from.load(a_data, at) + (kept != 0 ? kept * to.load(c_data, i) : 0));
    });
  });
  return call.status;
}
