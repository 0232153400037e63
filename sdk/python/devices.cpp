#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <primset/device.h>
#include <primset/formats.h>
#include <primset/generator.h>
#include <primset/pack.h>

#include <deque>

#include "sdk/python/gil.h"
#include "sdk/python/module_parts.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

// with primset.device("vulkan:0"): …
struct Scope {
  Device device;
  std::deque<DeviceGuard> guards;

  explicit Scope(Device d) : device(d) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

void define_device(nb::module_& m) {
  nb::class_<Device>(m, "Device", "Where tensors live: a plugin's name and an index.")
      .def(nb::init<const std::string&>(), nb::arg("name"))
      .def_prop_ro("type", [](const Device& d) { return std::string(d.type()); })
      .def_prop_ro("index", &Device::index)
      .def("__str__", &Device::to_string)
      .def("__repr__", [](const Device& d) { return "primset.Device('" + d.to_string() + "')"; })
      .def(
          "__eq__",
          [](const Device& a, nb::handle b) {
            if (nb::isinstance<nb::str>(b)) return a == Device(nb::cast<std::string>(b));
            return nb::isinstance<Device>(b) && a == nb::cast<Device>(b);
          },
          nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", &Device::id);
  nb::class_<DeviceInfo>(m, "DeviceInfo", "A device that was found.")
      .def_ro("name", &DeviceInfo::name)
      .def_ro("title", &DeviceInfo::title)
      .def_ro("plugin_file", &DeviceInfo::plugin_file)
      .def_ro("plugin_version", &DeviceInfo::plugin_version)
      .def_ro("kernel_format", &DeviceInfo::kernel_format)
      .def_ro("memory_bytes", &DeviceInfo::memory_bytes)
      .def_ro("dtypes", &DeviceInfo::dtypes)
      .def_ro("error", &DeviceInfo::error)
      .def("__repr__", [](const DeviceInfo& d) {
        return "<primset device " + d.name + ": " + (d.error.empty() ? d.title : d.error) + ">";
      });
  nb::class_<Scope>(m, "_DeviceScope")
      .def("__enter__", [](Scope& s) { s.guards.emplace_back(s.device); })
      .def(
          "__exit__", [](Scope& s, const nb::args&) { s.guards.pop_back(); },
          nb::sig("def __exit__(self, *args: typing.Any) -> None"));
  m.def("devices", [] { return devices(); }, "All devices of all plugins found.");
  m.def("current_device", &current_device, "The device of new tensors.");
  m.def(
      "device", [](const std::string& name) { return new Scope(Device(name)); }, nb::arg("name"),
      "with primset.device(\"vulkan:0\"): sets the device of new tensors for the block.");
  m.def(
      "synchronize",
      [] {
        const ReleasedGil released;
        synchronize();
      },
      "Waits for all devices, then raises the first error that only a device detects.");
  m.def(
      "use_pack",
      [](const std::string& file, const std::string& device) {
        const ReleasedGil released;
        use_pack(file, Device(device));
      },
      nb::arg("file"), nb::arg("device"),
      "Uses kernels that `primset pack` compiled ahead of time for the device.");
}

void define_generator(nb::module_& m) {
  nb::class_<Generator>(m, "Generator", "Random numbers: the same on every device for one seed.")
      .def(nb::init<uint64_t>(), nb::arg("seed") = Generator::kDefaultSeed)
      .def(
          "manual_seed",
          [](Generator& g, uint64_t seed) -> Generator& {
            g.set_seed(seed);
            return g;
          },
          nb::arg("seed"), nb::rv_policy::none)
      .def("initial_seed", &Generator::seed)
      .def_prop_rw("offset", &Generator::offset, &Generator::set_offset);
  m.def("default_generator", &default_generator);
  m.def("manual_seed", &manual_seed, nb::arg("seed"));
}

}  // namespace

void define_devices(nb::module_& m) {
  define_device(m);
  define_generator(m);
  nb::enum_<MemoryFormat>(m, "MemoryFormat")
      .value("contiguous_format", MemoryFormat::contiguous)
      .value("preserve_format", MemoryFormat::preserve)
      .value("channels_last", MemoryFormat::channels_last)
      .value("channels_last_3d", MemoryFormat::channels_last_3d)
      .export_values();
  nb::enum_<Layout>(m, "Layout")
      .value("strided", Layout::strided)
      .value("sparse_coo", Layout::sparse_coo)
      .value("sparse_csr", Layout::sparse_csr)
      .value("sparse_csc", Layout::sparse_csc)
      .value("sparse_bsr", Layout::sparse_bsr)
      .value("sparse_bsc", Layout::sparse_bsc)
      .export_values();
}

}  // namespace primset::python
