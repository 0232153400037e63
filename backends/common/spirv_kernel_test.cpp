// Kernels of a driver that counts what it makes.
#include "backends/common/spirv_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "backends/common/owned.h"

namespace primset_backend {
namespace {

// What the driver has made and not released.
std::multiset<std::string> g_live;
// What it refuses.
std::string g_refused;

struct Object {
  std::string kind;
};
int release(Object* object) {
  g_live.erase(g_live.find(object->kind));
  delete object;
  return 0;
}
Owned<Object*, int> made(const std::string& kind) {
  if (kind == g_refused) throw BackendError(PRIMSET_INTERNAL, "no " + kind);
  if (kind + " memory" == g_refused) throw BackendError(PRIMSET_OUT_OF_MEMORY, "no memory");
  g_live.insert(kind);
  return {new Object{kind}, {release}};
}

struct Device {
  CompiledCache binaries{nullptr, ""};
};
struct Stream {
  // Runs while a launch is enqueued, as another thread might.
  std::function<void()> meanwhile = [] {};
  std::vector<const Object*> launched;
};

struct Api {
  using Program = Owned<Object*, int>;
  using Kernel = Owned<Object*, int>;

  static Program build(const Device&, ProgramForm form, std::string_view) {
    return made(form == ProgramForm::spirv ? "program" : "program of a binary");
  }
  static std::vector<char> binary_of(const Device&, Object*) { return {'b'}; }
  static Kernel kernel_of(const Device&, Object*, const EntryPoint& entry) {
    return made("kernel " + entry.name);
  }
  static void launch(Stream& stream, Object* kernel, const EntryPoint&, const primset_launch&) {
    stream.launched.push_back(kernel);
    std::exchange(stream.meanwhile, [] {})();
  }
};
using Kernel = SpirvKernel<Api, Device>;

// A host whose cache has a binary of everything.
struct FullCache {
  FullCache() {
    host.struct_size = sizeof(host);
    host.cache_find = [](const primset_host*, const void*, uint64_t, primset_cache_found found,
                         void* context) -> uint32_t {
      found(context, "b", 1);
      return 1;
    };
    host.cache_store = [](const primset_host*, const void*, uint64_t, const void*, uint64_t) {};
  }

  primset_host host{};
};

class SpirvKernels : public testing::Test {
 protected:
  SpirvKernels() {
    desc_.data = kSpirv;
    desc_.size = sizeof(kSpirv);
    desc_.entry = "main";
  }
  ~SpirvKernels() override {
    EXPECT_THAT(g_live, testing::IsEmpty());
    g_refused.clear();
  }

  uint32_t code_of_making() const {
    try {
      const Kernel kernel(device_, desc_);
    } catch (const BackendError& e) {
      return e.code();
    }
    return PRIMSET_OK;
  }

  static constexpr uint32_t kSpirv[5] = {0x07230203, 0x00010200, 0, 1, 0};
  primset_module_desc desc_{};
  Device device_;
  Stream stream_;
};

TEST_F(SpirvKernels, AreOneObjectForLaunchesOneAfterTheOther) {
  Kernel kernel(device_, desc_);
  for (int i = 0; i < 3; ++i) kernel.launch(stream_, primset_launch{});
  EXPECT_EQ(stream_.launched, std::vector<const Object*>(3, stream_.launched[0]));
  EXPECT_EQ(g_live.count("kernel main"), 1u);
}

TEST_F(SpirvKernels, AreObjectsOfTheirOwnForLaunchesAtTheSameTime) {
  Kernel kernel(device_, desc_);
  for (int i = 0; i < 3; ++i) {
    stream_.launched.clear();
    stream_.meanwhile = [&] { kernel.launch(stream_, primset_launch{}); };
    kernel.launch(stream_, primset_launch{});
    ASSERT_EQ(stream_.launched.size(), 2u);
    EXPECT_NE(stream_.launched[0], stream_.launched[1]);
  }
  EXPECT_EQ(g_live.count("kernel main"), 2u) << "both are used again";
}

TEST_F(SpirvKernels, AreRefusedForWhateverReasonTheDriverHas) {
  g_refused = "program";
  EXPECT_EQ(code_of_making(), uint32_t{PRIMSET_LOAD_FAILED});
  g_refused = "kernel main";
  EXPECT_EQ(code_of_making(), uint32_t{PRIMSET_LOAD_FAILED});
  g_refused = "kernel main memory";
  EXPECT_EQ(code_of_making(), uint32_t{PRIMSET_OUT_OF_MEMORY});
  desc_.size = 19;
  EXPECT_EQ(code_of_making(), uint32_t{PRIMSET_LOAD_FAILED}) << "no SPIR-V";
}

TEST_F(SpirvKernels, ComeFromABinaryUnlessTheDriverRefusesIt) {
  FullCache cache;
  const Device device{CompiledCache(&cache.host, "")};
  {
    const Kernel kernel(device, desc_);
    EXPECT_EQ(g_live.count("program of a binary"), 1u);
  }
  g_refused = "program of a binary";
  const Kernel kernel(device, desc_);
  EXPECT_EQ(g_live.count("program"), 1u);
}

}  // namespace
}  // namespace primset_backend
