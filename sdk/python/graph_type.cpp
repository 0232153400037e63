#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <primset/graph.h>

#include <memory>

#include "sdk/python/gil.h"
#include "sdk/python/module_parts.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

std::vector<Tensor> tensors_of(nb::handle list) {
  std::vector<Tensor> out;
  for (nb::handle h : list) {
    const Tensor* t = as_tensor(h.ptr());
    if (!t)
      throw Error(ErrorCode::type, std::string("Graph: expected tensors, but found an object of "
                                               "type ") +
                                       Py_TYPE(h.ptr())->tp_name);
    out.push_back(*t);
  }
  return out;
}

nb::tuple tuple_of(std::vector<Tensor> tensors) {
  nb::list out;
  for (Tensor& t : tensors) out.append(wrapped(std::move(t)));
  return nb::tuple(out);
}

// A Python function as the graph calls it: when it is traced, possibly long after the first time.
// The last owner may be any thread. Cleared by the garbage collector where the function is what
// holds the graph.
struct Traced {
  PyObject* function;
  explicit Traced(nb::handle f) : function(Py_NewRef(f.ptr())) {}
  Traced(const Traced&) = delete;
  ~Traced() {
    if (!function || !Py_IsInitialized() || interpreter_is_ending()) return;
    const HeldGil gil;
    Py_DECREF(function);
  }

  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const {
    const HeldGil gil;
    if (!function) throw Error(ErrorCode::internal, "Graph: its function is gone");
    nb::list args;
    for (const Tensor& t : inputs) args.append(wrapped(t));
    const nb::object result = nb::handle(function)(*args);
    if (const Tensor* one = as_tensor(result.ptr())) return {*one};
    return tensors_of(result);
  }
};

// What Python sees as a Graph: it alone holds the graph, so that it can show the garbage collector
// the function behind it.
struct PyGraph {
  Graph graph;
  std::shared_ptr<Traced> traced;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<PyGraph>(self)->traced->function);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(nb::inst_ptr<PyGraph>(self)->traced->function);
  return 0;
}

PyType_Slot g_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                         {0, nullptr}};

PyGraph capture(const nb::callable& function, const nb::args& examples) {
  auto traced = std::make_shared<Traced>(function);
  const std::vector<Tensor> inputs = tensors_of(examples);
  const ReleasedGil released;
  return {Graph::capture(std::span<const Tensor>(inputs),
                         [traced](std::span<const Tensor> in) { return (*traced)(in); }),
          traced};
}

nb::tuple run(const PyGraph& self, const nb::args& args) {
  const std::vector<Tensor> inputs = tensors_of(args);
  std::vector<Tensor> outputs;
  {
    const ReleasedGil released;
    outputs = self.graph.run(std::span<const Tensor>(inputs));
  }
  return tuple_of(std::move(outputs));
}

}  // namespace

void define_graph(nb::module_& m) {
  nb::class_<PyGraph>(
      m, "Graph", nb::type_slots(g_slots),
      "A function whose operator calls are traced once, fused, and run many times.\n"
      "Calling it returns a tuple.")
      .def_static("capture", &capture, nb::arg("function"), nb::arg("example_inputs"),
                  nb::sig("def capture(function: collections.abc.Callable[..., Tensor | "
                          "collections.abc.Sequence[Tensor]], *example_inputs: Tensor) -> Graph"))
      .def("__call__", &run, nb::arg("inputs"),
           nb::sig("def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]"))
      .def("__str__", [](const PyGraph& g) { return g.graph.to_string(); })
      .def("__repr__", [](const PyGraph&) { return "<primset.Graph>"; });
}

}  // namespace primset::python
