// libFuzzer: a plugin whose every answer comes from the input: its table, what its device says of
// itself, its optional tables, its handles and its statuses. It answers through the interface only:
// pointers are null or point at what they should, since no host can tell others apart.
#include <fuzzer/FuzzedDataProvider.h>
#include <primset/error.h>
#include <primset/plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>

#include "sdk/runtime/plugin/device_entry.h"
#include "sdk/runtime/plugin/library.h"
#include "sdk/runtime/plugin/validation/validation.h"

namespace primset::plugin {
namespace {

// --- answers -------------------------------------------------------------------------------------

// What the functions below answer from: they are C functions without a place for it.
FuzzedDataProvider* input = nullptr;
// Texts and statuses live until the end of the input's run.
std::deque<std::string> texts;
std::deque<primset_status> statuses;

const char* any_text() {
  if (input->ConsumeIntegral<uint8_t>() < 16) return nullptr;
  return texts.emplace_back(input->ConsumeRandomLengthString(300)).c_str();
}

void release_nothing(primset_status*) {}

primset_status* any_status() {
  if (input->ConsumeIntegral<uint8_t>() < 200) return nullptr;
  primset_status& status = statuses.emplace_back();
  status.struct_size =
      input->ConsumeBool() ? uint32_t{sizeof(status)} : input->ConsumeIntegral<uint32_t>();
  status.code = input->ConsumeIntegralInRange<uint32_t>(0, 9);
  status.message = any_text();
  status.release = input->ConsumeBool() ? release_nothing : nullptr;
  return &status;
}

// One object stands behind all handles.
uint64_t object = 0;

template <typename Handle>
primset_status* answer(Handle* out) {
  if (input->ConsumeIntegral<uint8_t>() >= 16) *out = reinterpret_cast<Handle>(&object);
  return any_status();
}

primset_status* any_properties(primset_device, primset_device_properties* out) {
  const uint32_t bytes = out->struct_size;
  if (input->ConsumeBool()) {  // likely ones, of which the input changes some below
    out->kernel_format = input->ConsumeIntegralInRange<uint32_t>(0, 6);
    out->dtypes = PRIMSET_DTYPES_ALL;
    out->memory_alignment = out->group_threads = out->max_group_threads = 64;
    out->max_param_bytes = 4096;
    out->threads = out->min_subgroup = out->max_subgroup = 1;
    for (uint32_t& n : out->max_groups) n = 65535;
  }
  auto* words = reinterpret_cast<unsigned char*>(out);
  for (size_t changes = input->ConsumeIntegralInRange<size_t>(0, 40); changes > 0; --changes)
    words[input->ConsumeIntegralInRange<size_t>(
        0, offsetof(primset_device_properties, llvm_triple) - 1)] =
        input->ConsumeIntegral<uint8_t>();
  out->llvm_triple = any_text();
  out->llvm_cpu = any_text();
  out->keep_nan_widths = input->ConsumeIntegral<uint8_t>();
  if (input->ConsumeBool()) out->struct_size = bytes;
  return any_status();
}

// --- tables --------------------------------------------------------------------------------------

// A function of the table, seldom null.
template <typename Function>
void set(Function*& member, Function* function) {
  member = input->ConsumeIntegral<uint8_t>() == 1 ? nullptr : function;
}
uint32_t any_size(size_t right) {
  return input->ConsumeIntegral<uint8_t>() < 32 ? input->ConsumeIntegral<uint32_t>()
                                                : static_cast<uint32_t>(right);
}

const void* any_extension(primset_device, const char* id) {
  static primset_host_memory memory;
  static primset_device_addresses addresses;
  static primset_recordings recordings;
  if (input->ConsumeBool()) return nullptr;
  const std::string_view name = id;
  if (name == PRIMSET_EXT_HOST_MEMORY) {
    memory.struct_size = any_size(sizeof(memory));
    set(memory.address, +[](primset_device, primset_buffer) -> void* { return &object; });
    set(
        memory.import,
        +[](primset_device, void*, uint64_t, primset_buffer* out) { return answer(out); });
    return &memory;
  }
  if (name == PRIMSET_EXT_DEVICE_ADDRESS) {
    addresses.struct_size = any_size(sizeof(addresses));
    set(
        addresses.address,
        +[](primset_device, primset_buffer) { return input->ConsumeIntegral<uint64_t>(); });
    return &addresses;
  }
  if (name != PRIMSET_EXT_RECORDING) return nullptr;
  recordings.struct_size = any_size(sizeof(recordings));
  set(recordings.begin, +[](primset_stream) { return any_status(); });
  set(
      recordings.end,
      +[](primset_stream, primset_recording* out) { return out ? answer(out) : any_status(); });
  set(recordings.play, +[](primset_stream, primset_recording) { return any_status(); });
  set(recordings.destroy, +[](primset_device, primset_recording) {});
  return &recordings;
}

void set_device_functions(primset_plugin& t) {
  set(t.release, +[](const primset_plugin*) {});
  set(
      t.device_count, +[](const primset_plugin*, uint32_t* out) {
        *out = input->ConsumeBool() ? 1 : input->ConsumeIntegral<uint32_t>();
        return any_status();
      });
  set(
      t.device_open,
      +[](const primset_plugin*, uint32_t, primset_device* out) { return answer(out); });
  set(t.device_close, +[](primset_device) {});
  set(t.device_properties, &any_properties);
  set(t.device_extension, &any_extension);
  set(t.memory_alloc, +[](primset_device, uint64_t, primset_buffer* out) { return answer(out); });
  set(t.memory_free, +[](primset_device, primset_buffer) {});
  set(
      t.module_load,
      +[](primset_device, const primset_module_desc*, primset_module* out) { return answer(out); });
  set(t.module_unload, +[](primset_device, primset_module) {});
  set(t.module_kernel, +[](primset_module, primset_kernel* out) { return answer(out); });
}

void set_stream_functions(primset_plugin& t) {
  set(
      t.copy_in, +[](primset_stream, primset_buffer, uint64_t, const void*, uint64_t) {
        return any_status();
      });
  set(
      t.copy_out,
      +[](primset_stream, primset_buffer, uint64_t, void*, uint64_t) { return any_status(); });
  set(
      t.copy, +[](primset_stream, primset_buffer, uint64_t, primset_buffer, uint64_t, uint64_t) {
        return any_status();
      });
  set(
      t.fill, +[](primset_stream, primset_buffer, uint64_t, uint64_t, const void*, uint32_t) {
        return any_status();
      });
  set(t.stream_create, +[](primset_device, primset_stream* out) { return answer(out); });
  set(t.stream_destroy, +[](primset_stream) {});
  set(t.stream_synchronize, +[](primset_stream) { return any_status(); });
  set(t.event_create, +[](primset_device, primset_event* out) { return answer(out); });
  set(t.event_destroy, +[](primset_event) {});
  set(t.event_record, +[](primset_event, primset_stream) { return any_status(); });
  set(
      t.event_query, +[](primset_event, uint32_t* out) {
        *out = input->ConsumeIntegral<uint32_t>();
        return any_status();
      });
  set(t.event_synchronize, +[](primset_event) { return any_status(); });
  set(t.stream_wait_event, +[](primset_stream, primset_event) { return any_status(); });
  set(t.launch, +[](primset_stream, const primset_launch*) { return any_status(); });
}

// --- use -----------------------------------------------------------------------------------------

void use_stream(const PluginDevice& device, StreamHandle& stream) {
  const DeviceBuffer buffer = device.alloc(input->ConsumeIntegralInRange<uint64_t>(1, 1 << 20));
  char bytes[16] = {};
  stream.copy_in(buffer.handle(), input->ConsumeIntegral<uint8_t>(), bytes, sizeof(bytes));
  stream.fill(buffer.handle(), 0, 8, bytes, 4);
  stream.copy_out(buffer.handle(), 0, bytes, sizeof(bytes));
  EventHandle event = device.create_event();
  event.record(stream);
  event.reached();
  stream.wait(event);
  buffer.host_address();
  buffer.device_address();
  if (device.recordings()) {
    stream.begin_recording();
    const RecordingHandle recording = stream.end_recording();
    stream.play(recording);
  }
  stream.synchronize();
}

void use_device(const PluginDevice& device) {
  describe(device);
  StreamHandle stream = device.create_stream();
  try {
    use_stream(device, stream);
  } catch (const Error&) {  // the module is another matter
  }
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = device.properties().kernel_format;
  desc.data = &object;
  desc.size = sizeof(object);
  desc.entry = "kernel";
  for (uint32_t& n : desc.group_size) n = 1;
  device.load_module(desc);
}

void use_plugin() {
  primset_plugin table{};
  table.struct_size = any_size(sizeof(table));
  table.abi_version = input->ConsumeIntegral<uint8_t>() < 16 ? 2 : 1;
  table.name = input->ConsumeIntegral<uint8_t>() < 32 ? any_text() : "fuzz";
  table.version = any_text();
  table.vendor = any_text();
  set_device_functions(table);
  set_stream_functions(table);
  const Host host("fuzz", {}, {}, nullptr);
  check_table(&table, "fuzz", "plugin fuzz");
  std::unique_ptr<ValidationLayer> layer;
  if (input->ConsumeBool()) layer = ValidationLayer::wrap(&table, host.get(), {});
  const auto plugin = std::make_shared<Plugin>(nullptr, &table, std::move(layer), "fuzz");
  use_device(*plugin->open(0));
}

}  // namespace
}  // namespace primset::plugin

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::plugin;
  FuzzedDataProvider provider(data, size);
  input = &provider;
  try {
    use_plugin();
  } catch (const primset::Error&) {
    // Refused with an error: that is the contract.
  }
  texts.clear();
  statuses.clear();
  return 0;
}
