#include "backends/cuda/testing/fake_toolkit.h"

#include "backends/cuda/testing/fake_toolkit_world.h"
#include "backends/cuda/testing/host_lapack.h"

namespace fake_toolkit {

World& world() {
  static World* instance = new World;  // the plugin may call while the process ends
  return *instance;
}

Call::Call(const char* function, bool noted) : lock(world().mutex), name(function) {
  if (noted) world().calls.emplace_back(function);
  const auto it = world().failures.find(function);
  if (it == world().failures.end() || it->second.second-- > 0) return;
  status = it->second.first;
  world().failures.erase(it);
}

Call& Call::needs(bool right, const char* what) {
  if (status != 0 || right) return *this;
  fake_cuda::add_violation(std::string(name) + ": " + what);
  status = kWrongCall;
  return *this;
}

Call& Call::takes(const char* kind, const void* handle) {
  return needs(world().living.contains({kind, handle}), "no such handle");
}

Call& Call::reads(const void* at, size_t bytes) {
  if (status == 0 && bytes > 0 &&
      !fake_cuda::is_memory(name, reinterpret_cast<primset_cuda::DevicePointer>(at), bytes))
    status = kWrongCall;
  return *this;
}

bool Call::give(const void* handle, std::function<void()> work) {
  const auto stream = world().streams.find(handle);
  needs(stream != world().streams.end(), "no stream was set");
  if (status != 0) return false;
  return fake_cuda::give_work(name, stream->second, std::move(work));
}

bool has_lapack() {
  return host_lapack::is_there();
}

void reset() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.failures.clear();
  w.calls.clear();
  w.living.clear();
  w.streams.clear();
  w.plans = 0;
  w.workspace_bytes = 4096;
  set_versions(12000, 13, 12000);
  set_cudnn_version(91300);
}

void fail(const std::string& function, int status, int skip) {
  const std::lock_guard lock(world().mutex);
  world().failures[function] = {status, skip};
}

void set_versions(int cufft, int cublas, int cusolver) {
  const std::lock_guard lock(world().mutex);
  world().cufft = cufft;
  world().cublas = cublas;
  world().cusolver = cusolver;
}

void set_cudnn_version(size_t version) {
  const std::lock_guard lock(world().mutex);
  world().cudnn = version;
}

std::vector<std::string> calls() {
  const std::lock_guard lock(world().mutex);
  return std::exchange(world().calls, {});
}

void need_workspace(size_t bytes) {
  const std::lock_guard lock(world().mutex);
  world().workspace_bytes = bytes;
}

std::string leaks() {
  const std::lock_guard lock(world().mutex);
  std::string text = world().plans == 0 ? "" : std::to_string(world().plans) + " plans ";
  for (const auto& [kind, handle] : world().living) text += kind + " ";
  return text;
}

size_t plans() {
  const std::lock_guard lock(world().mutex);
  return world().plans;
}

}  // namespace fake_toolkit
