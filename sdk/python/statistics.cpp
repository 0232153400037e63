#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <primset/statistics.h>

#include "sdk/python/module_parts.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

nb::dict statistics_dict() {
  const Statistics s = statistics();
  nb::dict out;
  out["calls"] = s.calls;
  out["plans"] = s.plans;
  out["guard_misses"] = s.guard_misses;
  out["kernels_compiled"] = s.kernels_compiled;
  out["kernel_memory_hits"] = s.kernel_memory_hits;
  out["kernel_disk_hits"] = s.kernel_disk_hits;
  out["kernel_pack_hits"] = s.kernel_pack_hits;
  out["launches"] = s.launches;
  out["native_calls"] = s.native_calls;
  out["copies"] = s.copies;
  out["host_reads"] = s.host_reads;
  out["plans_cached"] = s.plans_cached;
  out["plans_evicted"] = s.plans_evicted;
  out["kernels_cached"] = s.kernels_cached;
  out["kernels_evicted"] = s.kernels_evicted;
  out["replays"] = s.replays;
  out["fallbacks"] = s.fallbacks;
  return out;
}

}  // namespace

void define_statistics(nb::module_& m) {
  m.def("statistics", &statistics_dict,
        "Counters of the runtime since the start, or since the last reset.",
        nb::sig("def statistics() -> dict[str, typing.Any]"));
  m.def("reset_statistics", &reset_statistics);
}

}  // namespace primset::python
