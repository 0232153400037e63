// The device's memory: the host's.
#ifndef PRIMSET_CONFORMANCE_INTERPRETER_PLUGIN_HOST_BUFFER_H_
#define PRIMSET_CONFORMANCE_INTERPRETER_PLUGIN_HOST_BUFFER_H_

#include <cstddef>
#include <vector>

struct primset_buffer_t {
  std::vector<std::byte> bytes;
};

#endif  // PRIMSET_CONFORMANCE_INTERPRETER_PLUGIN_HOST_BUFFER_H_
