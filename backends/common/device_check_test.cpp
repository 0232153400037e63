// primset_device_check: the tests that every device passes. Without a device there is nothing to
// test, and one error that says so is better than one of each test.
#include <gtest/gtest.h>
#include <primset/error.h>

#include <cstdio>

#include "backends/common/testing/device_under_test.h"
#include "sdk/runtime/plugin/loader.h"

namespace primset_backend_test {
namespace {

bool can_be_opened() {
  try {
    primset::plugin::LoaderOptions options;
    options.path = {plugin_folder_under_test()};
    primset::plugin::Registry(std::move(options)).open(device_under_test());
    return true;
  } catch (const primset::Error& e) {
    std::fprintf(stderr,
                 "primset_device_check: %s (PRIMSET_TEST_DEVICE and PRIMSET_TEST_PLUGIN_DIR say "
                 "what is tested)\n",
                 e.what());
    return false;
  }
}

}  // namespace
}  // namespace primset_backend_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!GTEST_FLAG_GET(list_tests) && !primset_backend_test::can_be_opened()) return 1;
  return RUN_ALL_TESTS();
}
