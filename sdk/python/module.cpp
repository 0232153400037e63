// The extension module primset._primset. The package primset/ re-exports what users need.
#include "sdk/python/dtypes.h"
#include "sdk/python/errors.h"
#include "sdk/python/exchange.h"
#include "sdk/python/module_parts.h"
#include "sdk/python/operator_type.h"
#include "sdk/python/tensor_type.h"

NB_MODULE(_primset, m) {
  using namespace primset::python;
#ifdef NDEBUG
  // A program that ends while its daemon threads hold tensors has not leaked them.
  nanobind::set_leak_warnings(false);
#endif
  m.doc() = "The PyTorch operator surface on any accelerator.";
  define_errors(m);
  define_dtypes(m);
  define_devices(m);
  define_tensor(m);
  define_dlpack(m);
  define_buffers(m);
  define_operators(m);
  define_graph(m);
  define_statistics(m);
}
