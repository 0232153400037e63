#include "backends/cuda/testing/fake_world.h"

#include <cstdlib>
#include <fstream>

namespace fake_cuda {

thread_local Context t_current = nullptr;
thread_local int t_capture_mode = 0;

World& world() {
  static World* instance = new World;  // the plugin may call while the process ends
  return *instance;
}
Result report_violation(const std::string& text, Result result) {
  world().violations.push_back(text);
  if (const char* folder = std::getenv("FAKE_CUDA_PTX"))
    std::ofstream(std::string(folder) + "/violations", std::ios::app) << text << std::endl;
  return result;
}

Call::Call(const char* name) : lock(world().mutex) {
  world().calls.emplace_back(name);
  const auto it = world().failures.find(name);
  if (it == world().failures.end() || it->second.skip-- > 0) return;
  result = it->second.result;
  if (it->second.sticky && t_current) t_current->sticky = result;
  world().failures.erase(it);
}

Call& Call::in_context(const char* name) {
  if (result != kSuccess) return *this;
  if (!t_current)
    result = report_violation(std::string(name) + " without a current context", kInvalidContext);
  else
    result = t_current->sticky;
  return *this;
}

Call& Call::at_once(const char* name) {
  if (result == kSuccess && !outside_capture(name)) result = kCaptureUnsupported;
  return *this;
}

Call& Call::releases(const char* name) {
  in_context(name);
  if (t_current && result == t_current->sticky) result = kSuccess;
  return *this;
}

bool on_device(const char* function, DevicePointer at, size_t bytes) {
  if (inside(world().memory, at, bytes)) return true;
  report_violation(std::string(function) + ": " + std::to_string(bytes) + " bytes at " +
                   std::to_string(at) + " are no device memory");
  return false;
}

void give(Stream stream, std::function<void()> work) {
  if (stream->captures) return stream->captured.push_back(std::move(work));
  stream->work.push_back(std::move(work));
  ++stream->given;
}
void step(Stream stream) {
  const std::function<void()> work = std::move(stream->work.front());
  stream->work.pop_front();
  work();
  ++stream->done;
}
void run_until(Stream stream, uint64_t mark) {
  while (stream->done < mark) step(stream);
}
bool reached(Event event) {
  return !event->stream || !lives(world().streams, event->stream) ||
         event->stream->done >= event->mark;
}
void run_until(Event event) {
  if (!reached(event)) run_until(event->stream, event->mark);
}

bool is_captured(const char* function, Stream stream) {
  if (!stream->captures) return false;
  report_violation(std::string(function) + " on a stream that is captured", kCaptureUnsupported);
  return true;
}

// --- control -------------------------------------------------------------------------------------

void reset(int devices) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.links.clear();
  w.executables.clear();
  w.graphs.clear();
  w.modules.clear();
  w.events.clear();
  w.streams.clear();
  w.memory.clear();
  w.locked.clear();
  w.failures.clear();
  w.violations.clear();
  w.calls.clear();
  w.contexts.clear();
  for (int i = 0; i < devices; ++i) w.contexts.push_back(std::make_unique<ContextTag>(i));
  w.pools = w.peers = true;
  w.mapped_contexts.clear();
  w.mapped_pools.clear();
  w.capturing = false;
  w.version = 13000;
  w.dependent_launches = 0;
  t_current = nullptr;
  t_capture_mode = 0;
}

void fail(const std::string& function, int result, int skip, bool sticky) {
  const std::lock_guard lock(world().mutex);
  world().failures[function] = {result, skip, sticky};
}
std::vector<std::string> violations() {
  const std::lock_guard lock(world().mutex);
  return std::exchange(world().violations, {});
}
std::vector<std::string> calls() {
  const std::lock_guard lock(world().mutex);
  return std::exchange(world().calls, {});
}

int dependent_launches() {
  const std::lock_guard lock(world().mutex);
  return world().dependent_launches;
}

std::string leaks() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  size_t retained = 0;
  for (const auto& context : w.contexts) retained += static_cast<size_t>(context->retained);
  std::string text;
  const auto add = [&](const char* what, size_t count) {
    if (count > 0) text += std::to_string(count) + " " + what + " ";
  };
  add("contexts", retained);
  add("memory", w.memory.size());
  add("page-locked memory", w.locked.size());
  add("streams", w.streams.size());
  add("events", w.events.size());
  add("modules", w.modules.size());
  add("link states", w.links.size());
  add("graphs", w.graphs.size());
  add("executable graphs", w.executables.size());
  return text;
}

void set_memory_pools(bool have) {
  world().pools = have;
}
void set_peers(bool have) {
  world().peers = have;
}
void set_version(int version) {
  world().version = version;
}
int current_device() {
  return t_current ? t_current->device : -1;
}
void set_current_device(int device) {
  t_current = device < 0 ? nullptr : world().contexts.at(static_cast<size_t>(device)).get();
}
void set_capturing(bool capturing) {
  world().capturing = capturing;
}
int thread_capture_mode() {
  return t_capture_mode;
}

void add_violation(const std::string& text) {
  const std::lock_guard lock(world().mutex);
  report_violation(text);
}
bool is_memory(const char* function, DevicePointer at, size_t bytes) {
  const std::lock_guard lock(world().mutex);
  return on_device(function, at, bytes);
}
bool give_work(const char* function, Stream stream, std::function<void()> work) {
  Call call(function);
  call.in_context(function).takes(function, world().streams, stream);
  if (call.result == kSuccess) give(stream, std::move(work));
  return call.result == kSuccess;
}
bool outside_capture(const char* function) {
  const std::lock_guard lock(world().mutex);
  if (!world().capturing || t_capture_mode == kCaptureModeRelaxed) return true;
  report_violation(std::string(function) + " while a graph is captured");
  return false;
}

}  // namespace fake_cuda
