#include "conformance/runner/runtime_device.h"

#include <primset/invoke.h>
#include <primset/options.h>
#include <primset/plugin.h>
#include <primset/statistics.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>

#include "conformance/compare/red_zone.h"
#include "conformance/runner/graph_launch.h"
#include "prims/reference/array.h"
#include "sdk/base/exception_text.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/execute/native_selection.h"
#include "sdk/runtime/plan/recompilation_log.h"
#include "sdk/runtime/tensor/sparse_tensor.h"
#include "sdk/runtime/tensor/storage.h"

namespace primset::conformance {
namespace {

// The case's storages on the device, and tensors on them. Equal host tensors are one Tensor, so
// that "the very same argument twice" stays that.
class DeviceMemory {
 public:
  DeviceMemory(const std::vector<HostStorage>& storages, Device device) {
    for (const HostStorage& s : storages) {
      raw_.emplace_back(runtime::new_storage(runtime::device_state(device), s.size()));
      if (!s.empty()) bytes_of(raw_.back(), s.size()).copy_from_host(s.data(), s.size());
    }
  }

  Tensor tensor(const std::vector<HostStorage>& storages, const HostTensor& t) {
    for (const auto& [host, made] : made_) {
      if (host == t) return made;
    }
    Tensor made = t.wrapped_number ? Tensor::wrapped_number(number(storages, t))
                  : t.is_sparse() ? sparse(storages, t)
                                  : Tensor::view_of(raw_.at(t.storage), t.dtype, t.sizes, t.strides,
                                                    t.offset, t.conj, t.neg);
    made_.emplace_back(t, made);
    return made;
  }

  std::vector<HostStorage> read_back() const {
    std::vector<HostStorage> out;
    for (const Storage& raw : raw_) {
      HostStorage s(raw.byte_size());
      if (!s.empty()) bytes_of(raw, s.size()).copy_to_host(s.data(), s.size());
      out.push_back(std::move(s));
    }
    return out;
  }

 private:
  Tensor sparse(const std::vector<HostStorage>& storages, const HostTensor& t) {
    runtime::SparseParts parts;
    parts.layout = t.layout;
    parts.coalesced = t.coalesced;
    if (t.layout == Layout::sparse_coo) {
      parts.indices = tensor(storages, t.parts[0]);
    } else {
      parts.compressed = tensor(storages, t.parts[0]);
      parts.plain = tensor(storages, t.parts[1]);
    }
    parts.values = tensor(storages, t.parts.back());
    return runtime::make_sparse(std::move(parts), t.sizes);
  }

  static Scalar number(const std::vector<HostStorage>& storages, const HostTensor& t) {
    Array a = read(storages, t);
    const Element& e = a.data.at(0);
    if (is_bool(t.dtype)) return Scalar(e.integer != 0);
    if (is_integral(t.dtype)) return Scalar(e.integer);
    if (is_complex(t.dtype)) {
      return Scalar(std::complex<double>(static_cast<double>(e.re), static_cast<double>(e.im)));
    }
    return Scalar(static_cast<double>(e.re));
  }

  // Bytes are moved, whether or not the device has tensors of them.
  static Tensor bytes_of(const Storage& storage, size_t size) {
    return Tensor::view_of(storage, DType::u8, {static_cast<int64_t>(size)}, {1}, 0);
  }

  std::vector<Storage> raw_;
  std::vector<std::pair<HostTensor, Tensor>> made_;
};

// Arguments as the boxed call takes them.
struct ToValue {
  DeviceMemory& memory;
  const TestCase& test;
  Device device;

  Value operator()(std::monostate) { return {}; }
  Value operator()(const HostTensor& t) { return memory.tensor(test.storages, t); }
  Value operator()(const TensorList& list) {
    std::vector<Tensor> out;
    for (const auto& t : list) out.push_back(t ? memory.tensor(test.storages, *t) : Tensor());
    return out;
  }
  Value operator()(DeviceUnderTest) { return device; }
  Value operator()(RngState s) {
    Generator g(s.seed);
    g.set_offset(s.offset);
    return g;
  }
  Value operator()(OutTensor) {
    throw Error(ErrorCode::internal, "an out= tensor of a case was not made yet");
  }
  template <typename T>
  Value operator()(const T& v) {
    return v;
  }
};

ActualTensor describe(const Tensor& t) {
  ActualTensor a;
  a.dtype = t.dtype();
  a.sizes.assign(t.sizes().begin(), t.sizes().end());
  a.layout = t.layout();
  if (const runtime::SparseParts* sparse = t.impl()->sparse.get()) {
    a.coalesced = sparse->coalesced;
    for (const Tensor* part :
         {&sparse->indices, &sparse->compressed, &sparse->plain, &sparse->values}) {
      if (part->defined()) a.parts.push_back(describe(*part));
    }
    return a;
  }
  a.strides.assign(t.strides().begin(), t.strides().end());
  a.offset = t.storage_offset();
  a.conj = t.is_conj();
  a.neg = t.is_neg();
  a.values.resize(static_cast<size_t>(t.numel()) * byte_size(a.dtype));
  if (!a.values.empty()) t.copy_to_host(a.values.data(), a.values.size());
  return a;
}

// A result that is no tensor, as a rank-0 array of the dtype that holds it.
ActualTensor describe_number(const Value& v) {
  Element e;
  ActualTensor a;
  a.is_tensor = false;
  Scalar s;
  if (v.is<Scalar>()) s = v.as<Scalar>();
  if (v.is<bool>()) s = Scalar(v.as<bool>());
  if (v.is<int64_t>()) s = Scalar(v.as<int64_t>());
  if (v.is<DType>()) s = Scalar(static_cast<int64_t>(v.as<DType>()));
  if (v.is<double>()) s = Scalar(v.as<double>());
  a.dtype = s.is_bool()       ? DType::boolean
            : s.is_integer()  ? DType::i64
            : s.is_floating() ? DType::f64
                              : DType::c128;
  e.integer = s.is_integral() ? s.to_int() : 0;
  e.re = static_cast<long double>(s.to_double());
  e.im = static_cast<long double>(s.imag());
  a.values = prims::reference::to_bytes(Array{a.dtype, {}, {e}});
  return a;
}

void flatten(const std::vector<Value>& values, const std::vector<ResultOrigin>& origins,
             std::vector<ActualTensor>& out) {
  auto add = [&](ActualTensor a) {
    if (out.size() < origins.size()) {
      a.origin = static_cast<Origin>(origins[out.size()].kind);
      a.argument = origins[out.size()].argument;
    }
    out.push_back(std::move(a));
  };
  for (const Value& v : values) {
    if (v.is<Tensor>()) {
      add(describe(v.as<Tensor>()));
    } else if (v.is<std::vector<Tensor>>()) {
      for (const Tensor& t : v.as<std::vector<Tensor>>()) add(describe(t));
    } else {
      add(describe_number(v));
    }
  }
}

// The sparse tensors of lists that a call without results has written: their memory, which may be
// new, does not show what they are now.
void add_written_lists(const specs::Overload& overload, const TestCase& test, DeviceMemory& memory,
                       std::vector<ActualTensor>& out) {
  if (!overload.returns.empty()) return;
  for (uint32_t i = 0; i < overload.args.size(); ++i) {
    const auto* list = std::get_if<TensorList>(&test.args.at(i));
    if (!list || !overload.args[i].alias.writes) continue;
    for (const auto& t : *list) {
      if (!t || !t->is_sparse()) continue;
      ActualTensor a = describe(memory.tensor(test.storages, *t));
      a.origin = Origin::argument;
      a.argument = i;
      out.push_back(std::move(a));
    }
  }
}

// Where a graph's results go: memory with guards, poisoned throughout.
struct GuardedOutputs {
  std::vector<HostStorage> storages;
  std::vector<HostTensor> tensors;

  // False when some size is only known during the run.
  bool add(const prims::ValueType& type) {
    std::vector<int64_t> sizes;
    for (const prims::SymInt& s : type.shape) {
      if (!s.is_constant()) return false;
      sizes.push_back(s.constant());
    }
    tensors.push_back(
        place(storages, prims::reference::make_array(type.dtype, sizes), LayoutKind::contiguous));
    HostStorage& storage = storages.back();
    for (size_t i = 0; i < storage.size(); ++i) storage[i] = poison(i);
    return true;
  }
};

// Makes a call's arguments and gives the call, which alone is timed.
using Prepare = std::function<std::function<void()>()>;

// The least time of some runs. A slow call is not worth many.
double seconds_of(const Prepare& prepare) {
  using Clock = std::chrono::steady_clock;
  constexpr int kMostRuns = 7;
  constexpr auto kEnough = std::chrono::milliseconds(20);
  Clock::time_point start = Clock::now();
  double least = HUGE_VAL;
  for (int i = 0; i < kMostRuns && (i == 0 || Clock::now() - start < kEnough); ++i) {
    const std::function<void()> call = prepare();
    Clock::time_point from = Clock::now();
    call();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - from).count());
  }
  return least;
}

void set_native(bool on) {
  Options o = options();
  o.native = on;
  set_options(o);
}

// The kernels that are made while it lives, plan by plan.
class KernelWatch {
 public:
  KernelWatch() { runtime::take_recompilations(); }

  std::vector<NewKernels> finish() const {
    uint64_t rest = runtime::kernels_loaded() - before_;
    std::vector<NewKernels> out;
    for (runtime::Recompilation& p : runtime::take_recompilations()) {
      if (p.kernels > 0) out.push_back({std::move(p.op), p.kernels, std::move(p.guards)});
      rest -= p.kernels;
    }
    if (rest > 0) out.push_back({"a launch, outside of any plan", rest, {}});
    return out;
  }

 private:
  uint64_t before_ = runtime::kernels_loaded();
};

class RuntimeDevice final : public DeviceRunner {
 public:
  RuntimeDevice(const specs::Bundle& bundle, const std::string& device,
                const RuntimeDeviceOptions& how)
      : bundle_(bundle), device_(device), how_(how) {
    Options o = options();
    o.fallback = Fallback::error;
    o.errors = ErrorReports::eager;
    o.native = !how.without_native;
    set_options(o);
    if (how.watch_kernels) runtime::enable_recompilation_log();
    listen();
    const runtime::DeviceState& opened = runtime::device_state(device_);
    const primset_device_properties& p = opened.plugin().properties();
    claims_.name = device_.to_string();
    claims_.title = opened.plugin().title();
    claims_.dtypes = DTypeSet(p.dtypes);
    claims_.flush_f32 = p.numerics & PRIMSET_NUMERIC_FLUSH_F32;
    claims_.traits = opened.traits();
    claims_.memory_bytes = p.memory_bytes;
    claims_.takes_kernels = p.kernel_format != PRIMSET_FORMAT_NONE;
  }

  const DeviceClaims& claims() const override { return claims_; }

  Execution run_operator(const TestCase& test) override {
    return guarded(test, [&](DeviceMemory& memory, Execution& out) {
      manual_seed(kDefaultRng.seed);
      const Arguments arguments = arguments_of(test, memory);
      Operator op(test.id.subject);
      std::vector<ResultOrigin> origins;
      const KernelWatch watch;
      std::vector<Value> results = op.invoke(arguments.positional, arguments.named, &origins);
      synchronize(device_);
      if (how_.watch_kernels) out.new_kernels = watch.finish();
      flatten(results, origins, out.results);
      add_written_lists(*bundle_.find_overload(test.id.subject), test, memory, out.results);
      out.storages = memory.read_back();
      if (how_.without_native) {
        // Each call has arguments of its own: an in-place form would find those of the last.
        out.route_times = time_routes([&]() -> std::function<void()> {
          const auto own = std::make_shared<DeviceMemory>(test.storages, device_);
          return [this, own, op, given = arguments_of(test, *own)] {
            op.invoke(given.positional, given.named);
            synchronize(device_);
          };
        });
      }
    });
  }

  Execution run_graph(const TestCase& test) override {
    return guarded(test, [&](DeviceMemory& memory, Execution& out) {
      std::vector<Tensor> inputs;
      for (const HostTensor& t : test.inputs) inputs.push_back(memory.tensor(test.storages, t));
      GuardedOutputs guarded_outputs;
      bool known = true;
      for (const prims::Output& o : test.graph->outputs) {
        known = known && guarded_outputs.add(test.graph->type(o.value));
      }
      if (!known) guarded_outputs = {};
      DeviceMemory output_memory(guarded_outputs.storages, device_);
      std::vector<Tensor> outputs;
      for (const HostTensor& t : guarded_outputs.tensors) {
        outputs.push_back(output_memory.tensor(guarded_outputs.storages, t));
      }
      out.claimed = claims_graph(*test.graph);
      GraphLaunch launch(bundle_, *test.graph, inputs, outputs, device_);
      for (const Tensor& t : launch.run()) out.results.push_back(describe(t));
      out.out_of_bounds_write =
          find_out_of_bounds_write(guarded_outputs.storages, output_memory.read_back(),
                                   guarded_outputs.tensors, guarded_outputs.tensors);
      out.storages = memory.read_back();
      if (how_.without_native) out.route_times = time_graph(*test.graph, inputs, outputs);
    });
  }

 private:
  struct Arguments {
    std::vector<Value> positional;
    std::vector<NamedValue> named;
  };
  Arguments arguments_of(const TestCase& test, DeviceMemory& memory) const {
    const specs::Overload& overload = *bundle_.find_overload(test.id.subject);
    Arguments out;
    for (size_t i = 0; i < test.args.size(); ++i) {
      Value v = std::visit(ToValue{memory, test, device_}, test.args[i]);
      const specs::Argument& a = overload.args[i];
      if (a.kind == specs::ArgKind::storage) v = v.tensor().storage();
      if (a.keyword_only || a.is_out) {
        out.named.push_back({a.name, std::move(v)});
      } else {
        out.positional.push_back(std::move(v));
      }
    }
    return out;
  }

  // Does a plugin that takes no kernels say that it runs each primitive of the graph?
  bool claims_graph(const prims::Graph& graph) const {
    const plugin::PluginDevice& plugin = runtime::device_state(device_).plugin();
    return !claims_.takes_kernels && std::ranges::all_of(graph.body.nodes, [&](prims::NodeId n) {
      return runtime::runs_natively(plugin, graph, n);
    });
  }

  // Empty when the call takes no native route.
  std::optional<RouteTimes> time_routes(const Prepare& prepare) {
    set_native(true);
    uint64_t before = statistics().native_calls;
    prepare()();
    bool native = statistics().native_calls > before;
    RouteTimes times;
    if (native) times.native = seconds_of(prepare);
    set_native(false);
    if (native) times.kernels = seconds_of(prepare);
    return native ? std::optional(times) : std::nullopt;
  }

  std::optional<RouteTimes> time_graph(const prims::Graph& graph, std::span<const Tensor> inputs,
                                       std::span<const Tensor> outputs) {
    std::optional<GraphLaunch> launch;
    bool made_native = false;
    return time_routes([&]() -> std::function<void()> {
      if (!launch || made_native != options().native) {
        made_native = options().native;
        launch.emplace(bundle_, graph, inputs, outputs, device_);
      }
      return [&] { launch->run(); };
    });
  }

  // Runs `body` with the case's memory on the device, catches what it throws, reads memory back.
  Execution guarded(const TestCase& test,
                    const std::function<void(DeviceMemory&, Execution&)>& body) {
    Execution out;
    DeviceGuard on(device_);
    try {
      DeviceMemory memory(test.storages, device_);
      try {
        body(memory, out);
      } catch (const Error& e) {
        out.error = CaughtError{e.code(), e.what()};
        out.results.clear();
      } catch (const std::bad_alloc& e) {
        out.error = CaughtError{ErrorCode::out_of_memory, text_of(e)};
        out.results.clear();
      } catch (const std::exception& e) {
        // No call may throw anything else.
        out.error =
            CaughtError{ErrorCode::internal, std::string("a foreign exception: ") + e.what()};
        out.results.clear();
      }
      bool lost = out.error && out.error->code == ErrorCode::device_lost;
      if (out.error && !lost) out.storages = memory.read_back();
    } catch (const Error& e) {
      if (!out.error) out.error = CaughtError{e.code(), e.what()};
    }
    out.findings = take_findings();
    return out;
  }

  // The validation layer says what it finds in the log.
  void listen() {
    set_log([this](LogLevel level, std::string_view text) {
      if (level != LogLevel::error || text.find("validation") == std::string_view::npos) return;
      std::lock_guard lock(mutex_);
      findings_.emplace_back(text);
    });
  }
  std::vector<std::string> take_findings() {
    std::lock_guard lock(mutex_);
    return std::exchange(findings_, {});
  }

  const specs::Bundle& bundle_;
  Device device_;
  RuntimeDeviceOptions how_;
  DeviceClaims claims_;
  std::mutex mutex_;
  std::vector<std::string> findings_;
};

}  // namespace

std::unique_ptr<DeviceRunner> open_runtime_device(const specs::Bundle& bundle,
                                                  const std::string& device,
                                                  const RuntimeDeviceOptions& options) {
  return std::make_unique<RuntimeDevice>(bundle, device, options);
}

}  // namespace primset::conformance
