// The device that primset_device_check tests: the one it was built for, unless the environment's
// PRIMSET_TEST_DEVICE and PRIMSET_TEST_PLUGIN_DIR name another.
#ifndef PRIMSET_BACKENDS_COMMON_TESTING_DEVICE_UNDER_TEST_H_
#define PRIMSET_BACKENDS_COMMON_TESTING_DEVICE_UNDER_TEST_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace primset_backend_test {

inline std::string setting(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

// "cpu:0"
inline std::string device_under_test() {
  return setting("PRIMSET_TEST_DEVICE", PRIMSET_TEST_DEVICE);
}

inline std::filesystem::path plugin_folder_under_test() {
  return setting("PRIMSET_TEST_PLUGIN_DIR", PRIMSET_TEST_PLUGIN_DIR);
}

}  // namespace primset_backend_test

#endif  // PRIMSET_BACKENDS_COMMON_TESTING_DEVICE_UNDER_TEST_H_
