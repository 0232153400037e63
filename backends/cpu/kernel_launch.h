// Modules and launches of the cpu back end.
#ifndef PRIMSET_BACKENDS_CPU_KERNEL_LAUNCH_H_
#define PRIMSET_BACKENDS_CPU_KERNEL_LAUNCH_H_

#include <primset/plugin.h>

namespace primset_cpu {

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module);
void module_unload(primset_device device, primset_module module);
primset_status* module_kernel(primset_module module, primset_kernel* out_kernel);
primset_status* launch(primset_stream stream, const primset_launch* launch);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_KERNEL_LAUNCH_H_
