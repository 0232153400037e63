// t[…] and t[…] = v, as PyTorch does it: integers, slices, None and … make views; lists, masks and
// index tensors gather, through index.Tensor and index_put_.
#include "sdk/python/convert.h"
#include "sdk/python/dtypes.h"
#include "sdk/python/errors.h"
#include "sdk/python/operator_type.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

using detail::Arg;

Tensor call(const char* name, std::initializer_list<Arg> args) {
  return detail::call_tensor(Operator(name), std::span<const Arg>(args.begin(), args.size()));
}

Tensor tensor_of(nb::handle numbers) {
  const nb::object made = nb::module_::import_("primset").attr("tensor")(numbers);
  return *as_tensor(made.ptr());
}

bool is_list(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o);
}

bool is_mask(const Tensor& t) {
  return t.dtype() == DType::boolean || t.dtype() == DType::u8;
}

// Walks the items of an index over the dims of a tensor: views are applied as they come, index
// tensors are gathered at the dims they stand for.
class Indexer {
 public:
  Indexer(const Tensor& t, nb::handle index) : view_(t), rank_(t.dim()) {
    std::vector<nb::object> items;
    if (PyTuple_Check(index.ptr())) {
      for (nb::handle h : nb::borrow<nb::tuple>(index)) items.push_back(item(h));
    } else {
      items.push_back(item(index));
    }
    for (const nb::object& o : items) specified_ += dims_of(o.ptr());
    if (specified_ > rank_)
      throw Error(ErrorCode::index,
                  "too many indices for tensor of dimension " + std::to_string(rank_));
    for (const nb::object& o : items) take(o.ptr());
  }

  const Tensor& view() const { return view_; }
  // What index and index_put_ take; empty when views say it all.
  const std::vector<Tensor>& indices() const { return indices_; }

 private:
  static nb::object item(nb::handle h) {
    return is_list(h.ptr()) || is_foreign_array(h.ptr()) ? wrapped(tensor_of(h)) : nb::borrow(h);
  }

  // How many dims of the tensor an item stands for.
  static int64_t dims_of(PyObject* o) {
    if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
    const Tensor* t = as_tensor(o);
    return t && is_mask(*t) ? t->dim() : 1;
  }

  void take(PyObject* o) {
    if (o == Py_None) {
      view_ = call("unsqueeze", {view_, dim_++});
    } else if (o == Py_Ellipsis) {
      dim_ += rank_ - specified_;
    } else if (PySlice_Check(o)) {
      slice(o);
    } else if (PyBool_Check(o)) {
      truth(o == Py_True);
    } else if (const Tensor* t = as_tensor(o)) {
      tensor(*t);
    } else if (PyIndex_Check(o)) {
      const Py_ssize_t place = PyNumber_AsSsize_t(o, PyExc_IndexError);
      if (place == -1 && PyErr_Occurred()) throw nb::python_error();
      view_ = call("select.int", {view_, dim_, int64_t{place}});
    } else {
      throw Error(ErrorCode::index,
                  std::string("only integers, slices (`:`), ellipsis (`...`), None and long or "
                              "byte Variables are valid indices (got ") +
                      Py_TYPE(o)->tp_name + ")");
    }
  }

  void slice(PyObject* o) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(o, &start, &stop, &step)) throw nb::python_error();
    if (step <= 0) throw Error(ErrorCode::value, "step must be greater than zero");
    const Arg args[] = {view_, dim_++, static_cast<int64_t>(start), static_cast<int64_t>(stop),
                        static_cast<int64_t>(step)};
    static const Operator op("slice.Tensor");
    view_ = detail::call_tensor(op, args);
  }

  // A truth value is a new dim of one element, or of none.
  void truth(bool value) {
    view_ = call("unsqueeze", {view_, dim_});
    const int64_t zero = 0;
    gather(Tensor::from_host(&zero, {value ? 1 : 0}, DType::i64, view_.device()));
  }

  void tensor(const Tensor& t) {
    if (t.dim() != 0 || !(is_integral(t.dtype()) || is_bool(t.dtype()))) return gather(t);
    if (is_mask(t)) return truth(t.item().to_bool());
    view_ = call("select.int", {view_, dim_, t.item().to_int()});
  }

  // A mask of rank n is one entry of the list and stands for n dims.
  void gather(const Tensor& t) {
    indices_.resize(static_cast<size_t>(dim_ - folded_));
    indices_.push_back(t);
    const int64_t dims = is_mask(t) ? t.dim() : 1;
    dim_ += dims;
    folded_ += dims - 1;
  }

  Tensor view_;
  const int64_t rank_;
  int64_t dim_ = 0;  // the next one of view_
  int64_t specified_ = 0, folded_ = 0;
  std::vector<Tensor> indices_;
};

nb::object get(nb::handle self, nb::handle index) {
  const Tensor& t = *as_tensor(self.ptr());
  const Indexer i(t, index);
  if (i.indices().empty()) {
    // t[...] is a tensor of its own on the same memory.
    return wrapped(i.view().is_same(t) ? call("alias", {t}) : i.view());
  }
  return wrapped(call("index.Tensor", {i.view(), i.indices()}));
}

Tensor value_for(const Tensor& target, nb::handle value) {
  if (const Tensor* t = as_tensor(value.ptr())) return *t;
  const nb::object made = nb::module_::import_("primset").attr("tensor")(
      value, dtype_object(target.dtype()), nb::arg("device") = nb::cast(target.device()));
  return *as_tensor(made.ptr());
}

void set(const Tensor& t, nb::handle index, nb::handle value) {
  const Indexer i(t, index);
  Tensor v = value_for(t, value);
  if (!i.indices().empty()) {
    call("index_put_", {i.view(), i.indices(), v});
    return;
  }
  // Leading dims of size 1 that the target does not have are dropped.
  while (v.dim() > i.view().dim() && v.size(0) == 1) v = call("select.int", {v, 0, 0});
  call("copy_", {i.view(), v});
}

// for row in t:
nb::object iterate(nb::handle self) {
  const Tensor& t = *as_tensor(self.ptr());
  if (t.dim() == 0) throw nb::type_error("iteration over a 0-d tensor");
  nb::list rows;
  for (int64_t i = 0; i < t.size(0); ++i) rows.append(wrapped(call("select.int", {t, 0, i})));
  return nb::steal(PyObject_GetIter(rows.ptr()));
}

}  // namespace

void define_indexing(nb::class_<Tensor>& type) {
  type.def("__getitem__", &get, nb::arg("index"),
           nb::sig("def __getitem__(self, index: typing.Any) -> Tensor"))
      .def("__setitem__", &set, nb::arg("index"), nb::arg("value"),
           nb::sig("def __setitem__(self, index: typing.Any, value: typing.Any) -> None"))
      .def("__iter__", &iterate, nb::sig("def __iter__(self) -> collections.abc.Iterator[Tensor]"));
}

}  // namespace primset::python
