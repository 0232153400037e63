#include "sdk/python/number_slots.h"

#include "sdk/python/errors.h"
#include "sdk/python/exchange.h"
#include "sdk/python/operator_type.h"
#include "sdk/python/tensor_type.h"

namespace primset::python {
namespace {

bool is_operand(PyObject* o) {
  return as_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) ||
         PyIndex_Check(o) || (Py_TYPE(o)->tp_as_number && Py_TYPE(o)->tp_as_number->nb_float);
}

template <Name kName>
PyObject* unary(PyObject* a) {
  return guarded([&] { return call_packet(packet<kName>(), {a}); });
}

// For operators whose first argument may be a number in ATen itself.
template <Name kName>
PyObject* binary(PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) return Py_NewRef(Py_NotImplemented);
  return guarded([&] { return call_packet(packet<kName>(), {a, b}); });
}

// For those that have an operator of their own with the arguments exchanged, or are commutative.
template <Name kName, Name kReversed>
PyObject* reversible(PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) return Py_NewRef(Py_NotImplemented);
  if (as_tensor(a)) return guarded([&] { return call_packet(packet<kName>(), {a, b}); });
  return guarded([&] { return call_packet(packet<kReversed>(), {b, a}); });
}

template <Name kName>
PyObject* inplace(PyObject* a, PyObject* b) {
  if (!is_operand(b)) return Py_NewRef(Py_NotImplemented);
  return guarded([&] { return call_packet(packet<kName>(), {a, b}); });
}

// number / tensor is ATen's reciprocal(tensor) * number.
PyObject* divide(PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) return Py_NewRef(Py_NotImplemented);
  return guarded([&]() -> PyObject* {
    if (as_tensor(a)) return call_packet(packet<"div">(), {a, b});
    const auto inverse = nanobind::steal(call_packet(packet<"reciprocal">(), {b}));
    return call_packet(packet<"mul">(), {inverse.ptr(), a});
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  return binary<"pow">(a, b);
}
PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) {
  return inplace<"pow_">(a, b);
}

PyObject* matmul(PyObject* a, PyObject* b) {
  if (!as_tensor(a) || !as_tensor(b)) return Py_NewRef(Py_NotImplemented);
  return guarded([&] { return call_packet(packet<"matmul">(), {a, b}); });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  if (!is_operand(b)) return Py_NewRef(Py_NotImplemented);
  switch (op) {
    case Py_LT:
      return binary<"lt">(a, b);
    case Py_LE:
      return binary<"le">(a, b);
    case Py_EQ:
      return binary<"eq">(a, b);
    case Py_NE:
      return binary<"ne">(a, b);
    case Py_GT:
      return binary<"gt">(a, b);
    default:
      return binary<"ge">(a, b);
  }
}

// Comparison is elementwise; as in PyTorch a tensor hashes as the object it is.
Py_hash_t hash(PyObject* o) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(o) >> 4);
}

template <typename F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

}  // namespace

const PyType_Slot* tensor_slots() {
  static const PyType_Slot kSlots[] = {slot(Py_nb_add, reversible<"add", "add">),
                                       slot(Py_nb_subtract, reversible<"sub", "rsub">),
                                       slot(Py_nb_multiply, reversible<"mul", "mul">),
                                       slot(Py_nb_true_divide, divide),
                                       slot(Py_nb_floor_divide, binary<"floor_divide">),
                                       slot(Py_nb_remainder, binary<"remainder">),
                                       slot(Py_nb_power, power),
                                       slot(Py_nb_matrix_multiply, matmul),
                                       slot(Py_nb_and, reversible<"bitwise_and", "bitwise_and">),
                                       slot(Py_nb_or, reversible<"bitwise_or", "bitwise_or">),
                                       slot(Py_nb_xor, reversible<"bitwise_xor", "bitwise_xor">),
                                       slot(Py_nb_lshift, binary<"bitwise_left_shift">),
                                       slot(Py_nb_rshift, binary<"bitwise_right_shift">),
                                       slot(Py_nb_inplace_add, inplace<"add_">),
                                       slot(Py_nb_inplace_subtract, inplace<"sub_">),
                                       slot(Py_nb_inplace_multiply, inplace<"mul_">),
                                       slot(Py_nb_inplace_true_divide, inplace<"div_">),
                                       slot(Py_nb_inplace_floor_divide, inplace<"floor_divide_">),
                                       slot(Py_nb_inplace_remainder, inplace<"remainder_">),
                                       slot(Py_nb_inplace_power, inplace_power),
                                       slot(Py_nb_inplace_and, inplace<"bitwise_and_">),
                                       slot(Py_nb_inplace_or, inplace<"bitwise_or_">),
                                       slot(Py_nb_inplace_xor, inplace<"bitwise_xor_">),
                                       slot(Py_nb_inplace_lshift, inplace<"bitwise_left_shift_">),
                                       slot(Py_nb_inplace_rshift, inplace<"bitwise_right_shift_">),
                                       slot(Py_nb_negative, unary<"neg">),
                                       slot(Py_nb_positive, unary<"positive">),
                                       slot(Py_nb_absolute, unary<"abs">),
                                       slot(Py_nb_invert, unary<"bitwise_not">),
                                       slot(Py_tp_richcompare, compare),
                                       slot(Py_tp_hash, hash),
                                       slot(Py_bf_getbuffer, get_buffer),
                                       slot(Py_bf_releasebuffer, release_buffer),
                                       {0, nullptr}};
  return kSlots;
}

}  // namespace primset::python
