// cuDNN of the fake toolkit: graphs of a convolution and an addition, summed by the definition, of
// f32, f64 and bf16; and those of attention (fake_dnn_attention.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "backends/cuda/testing/fake_dnn_attention.h"
#include "backends/cuda/testing/fake_dnn_descriptors.h"
#include "backends/cuda/testing/fake_toolkit_world.h"

namespace fake_toolkit {
namespace {

using primset_cuda::DnnDescriptor;
using primset_cuda::DnnHandle;
using primset_cuda::kDnnNotSupported;

// --- descriptors ---------------------------------------------------------------------------------

std::map<const void*, std::shared_ptr<Description>>& all_described() {
  static auto* all = new std::map<const void*, std::shared_ptr<Description>>;
  return *all;
}

size_t bytes_of(DnnValues type) {
  switch (type) {
    case DnnValues::boolean:
      return 1;
    case DnnValues::type:
    case DnnValues::f32:
    case DnnValues::convolution_mode:
    case DnnValues::heuristics_mode:
    case DnnValues::note:
    case DnnValues::pointwise_mode:
    case DnnValues::reduction_mode:
      return 4;
    default:
      return 8;
  }
}

DnnValues type_of(DnnAttribute a) {
  using enum DnnAttribute;
  switch (a) {
    case pointwise_mode:
      return DnnValues::pointwise_mode;
    case convolution_mode:
      return DnnValues::convolution_mode;
    case heuristics_mode:
      return DnnValues::heuristics_mode;
    case reduction_mode:
      return DnnValues::reduction_mode;
    case pointwise_type:
    case matmul_type:
    case reduction_type:
    case convolution_type:
    case tensor_type:
      return DnnValues::type;
    case tensor_is_virtual:
    case tensor_is_by_value:
      return DnnValues::boolean;
    case graph_handle:
    case plan_handle:
      return DnnValues::handle;
    case pack_addresses:
    case pack_workspace:
      return DnnValues::pointer;
    case engine_notes:
      return DnnValues::note;
    case convolution_dilations:
    case convolution_strides:
    case convolution_post_paddings:
    case convolution_pre_paddings:
    case convolution_spatial_dims:
    case pointwise_axis:
    case plan_workspace_bytes:
    case tensor_alignment:
    case tensor_sizes:
    case tensor_strides:
    case tensor_id:
    case pack_ids:
    case engine_index:
      return DnnValues::int64;
    default:
      return DnnValues::descriptor;
  }
}

bool is_scale(DnnAttribute a) {
  using enum DnnAttribute;
  return a == forward_alpha || a == forward_beta || a == backward_data_alpha ||
         a == backward_data_beta || a == backward_filter_alpha || a == backward_filter_beta;
}

// --- convolutions --------------------------------------------------------------------------------

// What an operation's kind calls its tensors.
struct Names {
  DnnAttribute x, w, y, windows, alpha, beta;
};
Names names_of(DnnKind kind) {
  using enum DnnAttribute;
  if (kind == DnnKind::convolution_forward)
    return {forward_x, forward_w, forward_y, forward_convolution, forward_alpha, forward_beta};
  if (kind == DnnKind::convolution_backward_data)
    return {backward_data_dx,          backward_data_w,     backward_data_dy,
            backward_data_convolution, backward_data_alpha, backward_data_beta};
  return {backward_filter_x,           backward_filter_dw,    backward_filter_dy,
          backward_filter_convolution, backward_filter_alpha, backward_filter_beta};
}
bool is_convolution(const Description& d) {
  return d.kind == DnnKind::convolution_forward || d.kind == DnnKind::convolution_backward_data ||
         d.kind == DnnKind::convolution_backward_filter;
}

double scale_of(const Description& d, DnnAttribute a) {
  const auto it = d.values.find(a);
  if (it == d.values.end()) return 0;
  return it->second.type == DnnValues::f64 ? d.one<double>(a) : d.one<float>(a);
}

struct Convolved {
  DnnKind kind;
  FakeTensor x, w, y;
  std::vector<int64_t> padding, strides, dilations;
  double kept;  // of the result that was there

  explicit Convolved(const Description& d)
      : kind(d.kind),
        x(d.part(names_of(d.kind).x)),
        w(d.part(names_of(d.kind).w)),
        y(d.part(names_of(d.kind).y)),
        kept(scale_of(d, names_of(d.kind).beta)) {
    const Description& g = d.part(names_of(d.kind).windows);
    padding = g.all<int64_t>(DnnAttribute::convolution_pre_paddings);
    strides = g.all<int64_t>(DnnAttribute::convolution_strides);
    dilations = g.all<int64_t>(DnnAttribute::convolution_dilations);
  }
  const FakeTensor& result() const {
    return kind == DnnKind::convolution_forward         ? y
           : kind == DnnKind::convolution_backward_data ? x
                                                        : w;
  }
  int64_t groups() const { return x.sizes[1] / w.sizes[1]; }
  bool fits() const {
    for (size_t d = 0; d < strides.size(); ++d)
      if ((x.sizes[d + 2] + 2 * padding[d] - dilations[d] * (w.sizes[d + 2] - 1) - 1) / strides[d] +
              1 !=
          y.sizes[d + 2])
        return false;
    return x.sizes[1] % w.sizes[1] == 0 && y.sizes[1] == w.sizes[0];
  }
  // Calls f(at x, at w, at y) for each product.
  template <typename F>
  void each_product(const F& f) const {
    each(y.sizes, [&](const Index& p) {
      each(w.sizes, [&](const Index& k) {
        if (k[0] != p[1]) return;
        Index i{p[0], p[1] / (w.sizes[0] / groups()) * w.sizes[1] + k[1]};
        for (size_t d = 0; d < strides.size(); ++d) {
          i[d + 2] = p[d + 2] * strides[d] - padding[d] + k[d + 2] * dilations[d];
          if (i[d + 2] < 0 || i[d + 2] >= x.sizes[d + 2]) return;
        }
        f(i, k, p);
      });
    });
  }
  std::map<Index, double> sums(const Addresses& at) const {
    std::map<Index, double> out;
    const auto of = [&](const FakeTensor& t) { return t.is_virtual ? nullptr : at.at(t.id); };
    each_product([&](const Index& i, const Index& k, const Index& p) {
      if (kind == DnnKind::convolution_forward)
        out[p] += x.load(of(x), i) * w.load(of(w), k);
      else if (kind == DnnKind::convolution_backward_data)
        out[i] += w.load(of(w), k) * y.load(of(y), p);
      else
        out[k] += x.load(of(x), i) * y.load(of(y), p);
    });
    return out;
  }
};

// --- what is checked when a descriptor is made final ---------------------------------------------

void check_tensor(Call& call, const Description& d) {
  const auto sizes = d.all<int64_t>(DnnAttribute::tensor_sizes);
  call.needs(sizes.size() == 4 || sizes.size() == 5, "tensors of four or five dims")
      .needs(d.all<int64_t>(DnnAttribute::tensor_strides).size() == sizes.size(), "as many strides")
      .needs(d.one<int64_t>(DnnAttribute::tensor_alignment) == 16, "an alignment")
      .needs(d.has(DnnAttribute::tensor_id), "an id");
  const auto type = d.one<DnnType>(DnnAttribute::tensor_type);
  if (call.status == 0 && type == DnnType::f16) call.status = kDnnNotSupported;
}

void check_windows(Call& call, const Description& d) {
  const auto dims = static_cast<size_t>(d.one<int64_t>(DnnAttribute::convolution_spatial_dims));
  call.needs(d.one<int>(DnnAttribute::convolution_mode) == 1, "filters that are not turned around");
  for (const auto a :
       {DnnAttribute::convolution_strides, DnnAttribute::convolution_dilations,
        DnnAttribute::convolution_pre_paddings, DnnAttribute::convolution_post_paddings})
    call.needs(dims > 0 && d.all<int64_t>(a).size() == dims, "a number for each spatial dim");
}

void check_convolution(Call& call, const Description& d) {
  const Names names = names_of(d.kind);
  for (const auto a : {names.x, names.w, names.y, names.windows})
    call.needs(d.part(a).is_final, "operands that are final");
  if (call.status != 0) return;
  const Convolved c(d);
  call.needs(c.fits(), "sizes of no convolution")
      .needs((d.part(names.windows).one<DnnType>(DnnAttribute::convolution_type) == DnnType::f64) ==
                 (c.w.type == DnnType::f64),
             "sums of another type")
      .needs(c.result().type == c.w.type || c.result().is_virtual, "a result of another type");
  const auto type = c.x.type == DnnType::f64 ? DnnValues::f64 : DnnValues::f32;
  for (const auto a : {names.alpha, names.beta})
    call.needs(d.has(a) && d.values.at(a).type == type, "scales of the sums' type");
  call.needs(scale_of(d, names.alpha) == 1, "sums as they are");
}

void check_final(Call& call, const Description& d) {
  using enum DnnAttribute;
  if (d.kind == DnnKind::tensor) check_tensor(call, d);
  if (d.kind == DnnKind::convolution) check_windows(call, d);
  if (is_convolution(d)) check_convolution(call, d);
  if (d.kind == DnnKind::pointwise_operation)
    for (const auto a : {pointwise_operation_mode, pointwise_operation_x, pointwise_operation_y})
      call.needs(d.part(a).is_final, "operands that are final");
  if (d.kind == DnnKind::graph)
    call.takes("dnn", d.one<DnnHandle>(graph_handle)).needs(d.has(graph_operations), "operations");
  if (d.kind == DnnKind::execution_plan) {
    call.takes("dnn", d.one<DnnHandle>(plan_handle)).needs(d.has(plan_config), "a configuration");
    if (call.status == 0 && !d.part(plan_config).engine->has_code) call.status = kDnnNotSupported;
  }
  // Of groups nothing is reckoned: what computes them is listed as a fallback.
  if (d.kind == DnnKind::heuristics) {
    const auto& operations = d.part(heuristics_graph).values.at(graph_operations).descriptors;
    if (is_convolution(*operations[0]) && Convolved(*operations[0]).groups() > 1 &&
        d.one<int>(heuristics_mode) == 3)
      call.status = kDnnNotSupported;
    if (is_attention(*operations[0]) && !has_attention(operations)) call.status = kDnnNotSupported;
  }
}

// Fastest: what the plugin must not take, or cannot; then what it may.
std::vector<Engine> engines() {
  const size_t bytes = world().workspace_bytes;
  return {{60, {DnnNote::tensor_core, DnnNote::winograd}, bytes},
          {61, {DnnNote::tensor_core, DnnNote::down_converts_inputs}, bytes},
          {62, {}, size_t{1} << 40},
          {63, {DnnNote::nondeterministic}, bytes},
          {64, {}, bytes, false},
          {66, {DnnNote::tensor_core}, bytes},
          {65, {DnnNote::strict_nan}, bytes}};
}

// --- what is asked of one ------------------------------------------------------------------------

template <typename T>
int answer(const std::vector<T>& values, int64_t most, int64_t* count, void* out) {
  *count = static_cast<int64_t>(values.size());
  const auto given = std::min(most, *count);
  std::memcpy(out, values.data(), static_cast<size_t>(given) * sizeof(T));
  return 0;
}

// A configuration knows its graph.
int list_configs(Call& call, const Description& heuristics, int64_t most, int64_t* count,
                 void* out) {
  const auto all = engines();
  *count = static_cast<int64_t>(all.size());
  for (int64_t i = 0; i < std::min(most, *count); ++i) {
    const auto to = static_cast<DnnDescriptor*>(out)[i];
    if (call.takes("descriptor", to).status != 0) return call.status;
    Description& config = *all_described()[to];
    config.engine = all[static_cast<size_t>(i)];
    config.values[DnnAttribute::heuristics_graph] =
        heuristics.values.at(DnnAttribute::heuristics_graph);
    config.is_final = true;
  }
  return 0;
}

// Tensor cores take halves and f64 as they are, and f32 not.
bool takes(const Description& plan) {
  const Description& config = plan.part(DnnAttribute::plan_config);
  const auto& graph = config.values.at(DnnAttribute::heuristics_graph).descriptors[0];
  const auto& operations = graph->values.at(DnnAttribute::graph_operations).descriptors;
  const bool of_f32 =
      is_convolution(*operations[0]) && Convolved(*operations[0]).w.type == DnnType::f32;
  return config.engine->index == (of_f32 ? 65 : 66);
}

// --- runs ----------------------------------------------------------------------------------------

// One graph with its tensors' addresses.
struct Execution {
  std::vector<Known> operations;
  Addresses at;

  void check(Call& call, const FakeTensor& t) const {
    if (t.is_virtual) return;
    if (call.needs(at.contains(t.id), "an address for each tensor").status == 0)
      call.reads(at.at(t.id), t.bytes())
          .needs(reinterpret_cast<uintptr_t>(at.at(t.id)) % 16 == 0,
                 "addresses as aligned as said");
  }
  void check(Call& call) const {
    const Convolved c(*operations[0]);
    for (const FakeTensor* t : {&c.x, &c.w, &c.y}) check(call, *t);
    if (operations.size() == 1) return;
    using enum DnnAttribute;
    const Description& add = *operations[1];
    const FakeTensor from(add.part(pointwise_operation_x)), b(add.part(pointwise_operation_b)),
        to(add.part(pointwise_operation_y));
    call.needs(operations.size() == 2 && add.kind == DnnKind::pointwise_operation &&
                   from.id == c.result().id && from.is_virtual,
               "an addition to the sums");
    check(call, b);
    check(call, to);
  }
  void run() const {
    const Convolved c(*operations[0]);
    auto sums = c.sums(at);
    if (operations.size() == 1) {
      const FakeTensor& to = c.result();
      return each(to.sizes, [&](const Index& i) {
        void* const memory = at.at(to.id);
        to.store(memory, i, sums[i] + (c.kept != 0 ? c.kept * to.load(memory, i) : 0));
      });
    }
    const Description& add = *operations[1];
    const FakeTensor b(add.part(DnnAttribute::pointwise_operation_b)),
        to(add.part(DnnAttribute::pointwise_operation_y));
    each(to.sizes, [&](const Index& i) {
      Index in_b = i;
      for (size_t d = 0; d < 5; ++d) in_b[d] = b.sizes[d] == 1 ? 0 : i[d];
      to.store(at.at(to.id), i, sums[i] + b.load(at.at(b.id), in_b));
    });
  }
};

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
FAKE_TOOLKIT(cudnnBackendCreateDescriptor)(DnnKind kind, DnnDescriptor* descriptor) {
  const int status = make_handle(__func__, "descriptor", descriptor);
  if (status != 0) return status;
  const std::lock_guard lock(world().mutex);
  all_described()[*descriptor] = std::make_shared<Description>();
  all_described()[*descriptor]->kind = kind;
  return 0;
}
FAKE_TOOLKIT(cudnnBackendDestroyDescriptor)(DnnDescriptor descriptor) {
  const int status = destroy_handle(__func__, "descriptor", descriptor);
  const std::lock_guard lock(world().mutex);
  if (status == 0) all_described().erase(descriptor);
  return status;
}
FAKE_TOOLKIT(cudnnBackendFinalize)(DnnDescriptor descriptor) {
  Call call(__func__, false);
  if (call.takes("descriptor", descriptor).status != 0) return call.status;
  Description& d = *all_described()[descriptor];
  check_final(call, d);
  d.is_final = call.status == 0;
  return call.status;
}
FAKE_TOOLKIT(cudnnBackendSetAttribute)(DnnDescriptor descriptor, DnnAttribute attribute,
                                       DnnValues type, int64_t count, const void* values) {
  Call call(__func__, false);
  if (call.takes("descriptor", descriptor).status != 0) return call.status;
  Description& d = *all_described()[descriptor];
  call.needs(!d.is_final, "a descriptor that is not final")
      .needs(is_scale(attribute) ? type == DnnValues::f32 || type == DnnValues::f64
                                 : type == type_of(attribute),
             "values of the attribute's type")
      .needs(count > 0 && values, "values");
  if (call.status != 0) return call.status;
  Values v{type, {}, {}};
  const auto* bytes = static_cast<const char*>(values);
  v.bytes.assign(bytes, bytes + static_cast<size_t>(count) * bytes_of(type));
  if (type == DnnValues::descriptor)
    for (int64_t i = 0; i < count; ++i) {
      const auto part = static_cast<const DnnDescriptor*>(values)[i];
      if (call.takes("descriptor", part).status != 0) return call.status;
      v.descriptors.push_back(all_described()[part]);
    }
  d.values[attribute] = std::move(v);
  return 0;
}
FAKE_TOOLKIT(cudnnBackendGetAttribute)(DnnDescriptor descriptor, DnnAttribute attribute,
                                       DnnValues type, int64_t most, int64_t* count, void* values) {
  Call call(__func__, false);
  if (call.takes("descriptor", descriptor).status != 0) return call.status;
  const Description& d = *all_described()[descriptor];
  call.needs(type == type_of(attribute), "values of the attribute's type")
      .needs(d.is_final, "a descriptor that is final");
  if (call.status != 0) return call.status;
  using enum DnnAttribute;
  if (attribute == heuristics_results) return list_configs(call, d, most, count, values);
  if (attribute == config_engine) {
    const auto to = *static_cast<DnnDescriptor*>(values);
    if (call.takes("descriptor", to).status != 0) return call.status;
    all_described()[to]->engine = d.engine;
    all_described()[to]->is_final = true;
    *count = 1;
    return 0;
  }
  if (attribute == engine_notes) return answer(d.engine->notes, most, count, values);
  if (attribute == engine_index)
    return answer(std::vector<int64_t>{d.engine->index}, most, count, values);
  call.needs(attribute == plan_workspace_bytes, "an attribute that is known");
  if (call.status != 0) return call.status;
  const auto bytes = static_cast<int64_t>(d.part(plan_config).engine->workspace_bytes);
  return answer(std::vector<int64_t>{bytes}, most, count, values);
}
FAKE_TOOLKIT(cudnnBackendExecute)(DnnHandle handle, DnnDescriptor plan, DnnDescriptor pack) {
  Call call(__func__);
  call.takes("dnn", handle).takes("descriptor", plan).takes("descriptor", pack);
  if (call.status != 0) return call.status;
  using enum DnnAttribute;
  const Description &p = *all_described()[plan], &v = *all_described()[pack];
  call.needs(p.is_final && v.is_final, "descriptors that are final")
      .needs(takes(p), "an engine that is not to be taken");
  const auto ids = v.all<int64_t>(pack_ids);
  const auto addresses = v.all<void*>(pack_addresses);
  call.needs(ids.size() == addresses.size(), "an address for each id");
  if (call.status != 0) return call.status;
  Execution e{p.part(plan_config).values.at(heuristics_graph).descriptors, {}};
  e.operations = e.operations[0]->values.at(graph_operations).descriptors;
  for (size_t i = 0; i < ids.size(); ++i) e.at[ids[i]] = addresses[i];
  std::optional<FakeAttention> attention;
  if (is_attention(*e.operations[0]))
    attention.emplace(call, e.operations, e.at);
  else
    e.check(call);
  if (const size_t bytes = p.part(plan_config).engine->workspace_bytes)
    call.reads(v.one<void*>(pack_workspace), bytes);
  if (call.status == 0 && attention) call.give(handle, [a = *attention]() mutable { a.run(); });
  if (call.status == 0 && !attention) call.give(handle, [e] { e.run(); });
  return call.status;
}
