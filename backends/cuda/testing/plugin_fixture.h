// The plugin on the fake driver, for tests.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_PLUGIN_FIXTURE_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_PLUGIN_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/testing/fake_driver.h"
#include "sdk/runtime/plugin/loader.h"

namespace primset::plugin {

namespace fs = std::filesystem;

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::reset();
    cache_ = fs::path(testing::TempDir()) /
             ("primset_cuda_test_" +
              std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(cache_);
    open_registry();
  }
  void TearDown() override {
    registry_.reset();
    EXPECT_EQ(fake_cuda::leaks(), "");
    EXPECT_THAT(fake_cuda::violations(), IsEmpty());
    fs::remove_all(cache_);
  }

  void open_registry() {
    LoaderOptions options;
    options.path = {fs::path(PRIMSET_TEST_PLUGIN_DIR)};
    options.cache = std::make_shared<const runtime::DiskCache>(cache_);
    options.log = [this](uint32_t level, std::string_view text) {
      if (level >= PRIMSET_LOG_WARNING) logged_.emplace_back(text);
    };
    registry_ = std::make_unique<Registry>(std::move(options));
  }
  std::shared_ptr<PluginDevice> open(int index = 0) {
    return registry_->open("cuda:" + std::to_string(index));
  }
  // As a process would that starts later.
  void restart() {
    registry_.reset();
    open_registry();
  }
  std::vector<fs::path> cache_files() const {
    std::vector<fs::path> files;
    if (fs::exists(cache_ / "cuda"))
      for (const auto& entry : fs::recursive_directory_iterator(cache_ / "cuda"))
        if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  }

  fs::path cache_;
  std::vector<std::string> logged_;
  std::unique_ptr<Registry> registry_;
};

// With the device open and a stream on it.
class CudaDevice : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    open_device();
  }
  void TearDown() override {
    close();
    Cuda::TearDown();
  }
  void open_device() {
    device = open();
    stream = device->create_stream();
  }
  void close() {
    stream.reset();
    device.reset();
  }
  // With the environment as it is now.
  void reopen() {
    close();
    restart();
    open_device();
  }

  std::shared_ptr<PluginDevice> device;
  StreamHandle stream;
};

// What `f` throws: its code and text.
template <typename F>
std::pair<ErrorCode, std::string> error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, ""};
}

}  // namespace primset::plugin

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_PLUGIN_FIXTURE_H_
