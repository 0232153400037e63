/* Pins the layout of every struct of plugin.h on LP64 machines: a change of any of these numbers
 * breaks plugins that are already built. Members may only be appended, and then are appended here.
 * Included by a C11 and by a C++20 file. */
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_ABI_LAYOUT_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_ABI_LAYOUT_H_

#include <primset/plugin.h>

#ifdef __cplusplus
#define PIN_ASSERT(condition, text) static_assert(condition, text)
#else
#define PIN_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define PIN_SIZE(type, size) PIN_ASSERT(sizeof(type) == (size), "size of " #type)
#define PIN(type, member, offset) \
  PIN_ASSERT(offsetof(type, member) == (offset), "offset of " #type "." #member)

PIN_ASSERT(sizeof(void*) == 8, "the numbers below are for LP64");

PIN_SIZE(primset_status, 24);
PIN(primset_status, struct_size, 0);
PIN(primset_status, code, 4);
PIN(primset_status, message, 8);
PIN(primset_status, release, 16);

PIN_SIZE(primset_device_properties, 264);
PIN(primset_device_properties, struct_size, 0);
PIN(primset_device_properties, kernel_format, 4);
PIN(primset_device_properties, name, 8);
PIN(primset_device_properties, memory_bytes, 136);
PIN(primset_device_properties, dtypes, 144);
PIN(primset_device_properties, features, 152);
PIN(primset_device_properties, numerics, 156);
PIN(primset_device_properties, memory_alignment, 160);
PIN(primset_device_properties, max_param_bytes, 164);
PIN(primset_device_properties, threads, 168);
PIN(primset_device_properties, vector_bytes, 172);
PIN(primset_device_properties, group_threads, 176);
PIN(primset_device_properties, max_group_threads, 180);
PIN(primset_device_properties, group_memory, 184);
PIN(primset_device_properties, min_subgroup, 188);
PIN(primset_device_properties, max_subgroup, 192);
PIN(primset_device_properties, max_groups, 196);
PIN(primset_device_properties, loop_limit, 208);
PIN(primset_device_properties, llvm_triple, 216);
PIN(primset_device_properties, llvm_cpu, 224);
PIN(primset_device_properties, llvm_features, 232);
PIN(primset_device_properties, next, 240);
PIN(primset_device_properties, keep_nan_widths, 248);
PIN(primset_device_properties, round_even_widths, 252);
PIN(primset_device_properties, keep_denorm_widths, 256);
PIN(primset_device_properties, large_group_memory, 260);

PIN_SIZE(primset_native_image, 32);
PIN(primset_native_image, magic, 0);
PIN(primset_native_image, header_size, 8);
PIN(primset_native_image, machine, 12);
PIN(primset_native_image, image_size, 16);
PIN(primset_native_image, entry_offset, 24);

PIN_SIZE(primset_binding, 32);
PIN(primset_binding, buffer, 0);
PIN(primset_binding, offset, 8);
PIN(primset_binding, size, 16);
PIN(primset_binding, access, 24);
PIN(primset_binding, reserved, 28);

PIN_SIZE(primset_launch, 64);
PIN(primset_launch, struct_size, 0);
PIN(primset_launch, flags, 4);
PIN(primset_launch, kernel, 8);
PIN(primset_launch, groups, 16);
PIN(primset_launch, binding_count, 28);
PIN(primset_launch, bindings, 32);
PIN(primset_launch, scalars, 40);
PIN(primset_launch, scalar_bytes, 48);
PIN(primset_launch, reserved, 52);
PIN(primset_launch, next, 56);

PIN_SIZE(primset_module_desc, 80);
PIN(primset_module_desc, struct_size, 0);
PIN(primset_module_desc, format, 4);
PIN(primset_module_desc, data, 8);
PIN(primset_module_desc, size, 16);
PIN(primset_module_desc, entry, 24);
PIN(primset_module_desc, group_size, 32);
PIN(primset_module_desc, pointer_count, 44);
PIN(primset_module_desc, param_bytes, 48);
PIN(primset_module_desc, group_memory, 52);
PIN(primset_module_desc, scalar_count, 56);
PIN(primset_module_desc, reserved, 60);
PIN(primset_module_desc, scalar_sizes, 64);
PIN(primset_module_desc, next, 72);

PIN_SIZE(primset_host, 48);
PIN(primset_host, struct_size, 0);
PIN(primset_host, abi_version, 4);
PIN(primset_host, name, 8);
PIN(primset_host, log, 16);
PIN(primset_host, cache_folder, 24);
PIN(primset_host, cache_find, 32);
PIN(primset_host, cache_store, 40);

PIN_SIZE(primset_plugin, 232);
PIN(primset_plugin, struct_size, 0);
PIN(primset_plugin, abi_version, 4);
PIN(primset_plugin, name, 8);
PIN(primset_plugin, version, 16);
PIN(primset_plugin, vendor, 24);
PIN(primset_plugin, release, 32);
PIN(primset_plugin, device_count, 40);
PIN(primset_plugin, device_open, 48);
PIN(primset_plugin, device_close, 56);
PIN(primset_plugin, device_properties, 64);
PIN(primset_plugin, device_extension, 72);
PIN(primset_plugin, memory_alloc, 80);
PIN(primset_plugin, memory_free, 88);
PIN(primset_plugin, copy_in, 96);
PIN(primset_plugin, copy_out, 104);
PIN(primset_plugin, copy, 112);
PIN(primset_plugin, fill, 120);
PIN(primset_plugin, stream_create, 128);
PIN(primset_plugin, stream_destroy, 136);
PIN(primset_plugin, stream_synchronize, 144);
PIN(primset_plugin, event_create, 152);
PIN(primset_plugin, event_destroy, 160);
PIN(primset_plugin, event_record, 168);
PIN(primset_plugin, event_query, 176);
PIN(primset_plugin, event_synchronize, 184);
PIN(primset_plugin, stream_wait_event, 192);
PIN(primset_plugin, module_load, 200);
PIN(primset_plugin, module_unload, 208);
PIN(primset_plugin, module_kernel, 216);
PIN(primset_plugin, launch, 224);

PIN_SIZE(primset_host_memory, 24);
PIN(primset_host_memory, struct_size, 0);
PIN(primset_host_memory, reserved, 4);
PIN(primset_host_memory, address, 8);
PIN(primset_host_memory, import, 16);

PIN_SIZE(primset_pinned_memory, 40);
PIN(primset_pinned_memory, struct_size, 0);
PIN(primset_pinned_memory, reserved, 4);
PIN(primset_pinned_memory, alloc, 8);
PIN(primset_pinned_memory, free, 16);
PIN(primset_pinned_memory, copy_in, 24);
PIN(primset_pinned_memory, copy_out, 32);

PIN_SIZE(primset_peer_copies, 32);
PIN(primset_peer_copies, struct_size, 0);
PIN(primset_peer_copies, reserved, 4);
PIN(primset_peer_copies, reachable, 8);
PIN(primset_peer_copies, wait_event, 16);
PIN(primset_peer_copies, copy, 24);

PIN_SIZE(primset_device_addresses, 16);
PIN(primset_device_addresses, struct_size, 0);
PIN(primset_device_addresses, reserved, 4);
PIN(primset_device_addresses, address, 8);

PIN_SIZE(primset_tensor, 48);
PIN(primset_tensor, struct_size, 0);
PIN(primset_tensor, dtype, 4);
PIN(primset_tensor, buffer, 8);
PIN(primset_tensor, offset, 16);
PIN(primset_tensor, rank, 24);
PIN(primset_tensor, reserved, 28);
PIN(primset_tensor, sizes, 32);
PIN(primset_tensor, strides, 40);

PIN_SIZE(primset_attr, 24);
PIN(primset_attr, name, 0);
PIN(primset_attr, kind, 8);
PIN(primset_attr, count, 12);
PIN(primset_attr, value, 16);

PIN_SIZE(primset_primitive_call, 48);
PIN(primset_primitive_call, struct_size, 0);
PIN(primset_primitive_call, operand_count, 4);
PIN(primset_primitive_call, operands, 8);
PIN(primset_primitive_call, result_count, 16);
PIN(primset_primitive_call, attr_count, 20);
PIN(primset_primitive_call, results, 24);
PIN(primset_primitive_call, attrs, 32);
PIN(primset_primitive_call, next, 40);

PIN_SIZE(primset_primitive, 32);
PIN(primset_primitive, struct_size, 0);
PIN(primset_primitive, flags, 4);
PIN(primset_primitive, run, 8);
PIN(primset_primitive, data, 16);
PIN(primset_primitive, least_products, 24);

PIN_SIZE(primset_primitives, 16);
PIN(primset_primitives, struct_size, 0);
PIN(primset_primitives, reserved, 4);
PIN(primset_primitives, find, 8);

PIN_SIZE(primset_recordings, 40);
PIN(primset_recordings, struct_size, 0);
PIN(primset_recordings, reserved, 4);
PIN(primset_recordings, begin, 8);
PIN(primset_recordings, end, 16);
PIN(primset_recordings, play, 24);
PIN(primset_recordings, destroy, 32);

#endif /* PRIMSET_SDK_RUNTIME_PLUGIN_ABI_LAYOUT_H_ */
