// What only this back end has, against a driver that checks how it is called
// (testing/fake_driver.h). What every device must do runs on that driver too: device_test.cpp.
#include <cstring>
#include <fstream>

#include "backends/common/testing/kernels.h"
#include "backends/cuda/testing/plugin_fixture.h"

namespace primset::plugin {
namespace {

using primset_backend_test::add_bias;
using primset_backend_test::TestKernel;
// --- devices -------------------------------------------------------------------------------------

TEST_F(Cuda, SeveralDevicesWithTheirProperties) {
  fake_cuda::reset(3);
  EXPECT_EQ(registry_->plugin("cuda")->device_count(), 3u);
  const std::shared_ptr<PluginDevice> device = open(2);
  const primset_device_properties& p = device->properties();
  EXPECT_STREQ(p.name, "Fake GPU 2");
  EXPECT_EQ(p.kernel_format, uint32_t{PRIMSET_FORMAT_PTX});
  EXPECT_STREQ(p.llvm_cpu, "sm_90");
  EXPECT_EQ(p.memory_bytes, uint64_t{64} << 30);
  EXPECT_EQ(p.min_subgroup, 32u);
  EXPECT_EQ(p.max_subgroup, 32u);
  EXPECT_EQ(p.threads, 132u);
  EXPECT_EQ(p.group_threads, 256u);
  EXPECT_EQ(p.max_group_threads, 1024u);
  EXPECT_EQ(p.group_memory, 49152u);
  EXPECT_EQ(p.large_group_memory, 232448u);
  EXPECT_EQ(p.max_groups[0], 2147483647u);
  EXPECT_EQ(p.max_groups[1], 65535u);
  const auto [code, text] = error_of([&] { open(3); });
  EXPECT_THAT(text, HasSubstr("3"));
}

// cp.async and mma.m16n8k16 came with sm_80; wgmma is sm_90's alone.
TEST_F(Cuda, FeaturesAreThoseOfTheArchitecture) {
  constexpr uint32_t kFrom80 = PRIMSET_FEATURE_ASYNC_COPY | PRIMSET_FEATURE_MATRIX;
  constexpr uint32_t kFrom90 =
      kFrom80 | PRIMSET_FEATURE_CACHE_POLICIES | PRIMSET_FEATURE_EARLY_START;
  constexpr uint32_t kAll = kFrom90 | PRIMSET_FEATURE_GROUP_MATRIX;
  const auto of = [&](const char* sm) {
    setenv("FAKE_CUDA_SM", sm, 1);
    restart();
    return open()->properties().features & kAll;
  };
  for (const auto& [sm, features] :
       {std::pair{"75", 0u}, {"80", kFrom80}, {"90", kAll}, {"100", kFrom90}})
    EXPECT_EQ(of(sm), features) << sm;
  setenv("PRIMSET_CUDA_WGMMA", "0", 1);
  EXPECT_EQ(of("90"), kFrom90);
  unsetenv("PRIMSET_CUDA_WGMMA");
  setenv("PRIMSET_CUDA_EARLY_START", "0", 1);
  EXPECT_EQ(of("90"), kAll & ~PRIMSET_FEATURE_EARLY_START);
  unsetenv("PRIMSET_CUDA_EARLY_START");
  unsetenv("FAKE_CUDA_SM");
}

TEST_F(Cuda, NoGpuIsNoError) {
  fake_cuda::fail("cuInit", primset_cuda::kErrorNoDevice);
  EXPECT_EQ(registry_->plugin("cuda")->device_count(), 0u);
}

TEST_F(Cuda, ADriverThatDoesNotStartIsAnError) {
  fake_cuda::fail("cuInit", 999);
  const auto [code, text] = error_of([&] { registry_->plugin("cuda")->device_count(); });
  EXPECT_THAT(text, HasSubstr("cuInit"));
  EXPECT_THAT(text, HasSubstr("999"));
  EXPECT_EQ(registry_->plugin("cuda")->device_count(), 2u) << "it is tried again";
}

TEST_F(Cuda, OpeningThatFailsKeepsNothing) {
  fake_cuda::fail("cuStreamCreate", primset_cuda::kErrorOutOfMemory);
  EXPECT_EQ(error_of([&] { open(); }).first, ErrorCode::out_of_memory);
  EXPECT_EQ(fake_cuda::leaks(), "");
}

TEST_F(Cuda, ThreadsKeepTheirContext) {
  const std::shared_ptr<PluginDevice> first = open(0), second = open(1);
  fake_cuda::set_current_device(0);
  const StreamHandle stream = second->create_stream();
  const DeviceBuffer buffer = second->alloc(64);
  const uint64_t value = 7;
  stream.copy_in(buffer.handle(), 0, &value, 8);
  stream.synchronize();
  EXPECT_EQ(fake_cuda::current_device(), 0);
  fake_cuda::set_current_device(-1);
  stream.synchronize();
  EXPECT_EQ(fake_cuda::current_device(), -1);
  // Without one, CUDA's runtime would take the first device's.
  first->alloc(64);
  EXPECT_EQ(fake_cuda::current_device(), 0);
}

// --- peers ---------------------------------------------------------------------------------------

TEST_F(Cuda, PeersAreMappedWithAndWithoutPools) {
  for (const bool pools : {true, false}) {
    restart();
    fake_cuda::set_memory_pools(pools);
    const std::shared_ptr<PluginDevice> first = open(0), second = open(1);
    ASSERT_TRUE(first->reaches(*second));
    EXPECT_TRUE(first->reaches(*second)) << "asked again";
    EXPECT_TRUE(second->reaches(*first));
    EXPECT_FALSE(first->reaches(*open(0))) << "itself";
    const StreamHandle here = first->create_stream(), there = second->create_stream();
    const DeviceBuffer from = second->alloc(64), to = first->alloc(64);
    EventHandle written = second->create_event();
    const uint64_t value = 9;
    there.fill(from.handle(), 0, 64, &value, 8);
    written.record(there);
    here.wait_for_peer(written);
    here.copy_from_peer(to.handle(), 8, from.handle(), 0, 8);
    uint64_t seen = 0;
    here.copy_out(to.handle(), 8, &seen, 8);
    EXPECT_EQ(seen, 9u) << pools;
    there.synchronize();
  }
}

TEST_F(Cuda, DevicesThatCannotAccessEachOtherAreNoPeers) {
  fake_cuda::set_peers(false);
  EXPECT_FALSE(open(0)->reaches(*open(1)));
}

// --- memory --------------------------------------------------------------------------------------

// The driver reads page-locked memory when the copy runs, not when it is enqueued.
TEST_F(Cuda, SourcesMayBeReusedWhateverTheirMemory) {
  const std::shared_ptr<PluginDevice> device = open();
  const StreamHandle stream = device->create_stream();
  constexpr uint64_t kBytes = 2 << 20;
  const DeviceBuffer buffer = device->alloc(kBytes);
  const PinnedHandle pinned = device->alloc_pinned(kBytes);
  std::vector<uint8_t> pageable(kBytes);
  for (uint8_t* const memory : {pageable.data(), static_cast<uint8_t*>(pinned.memory())})
    for (const uint64_t bytes : {uint64_t{8}, uint64_t{20'000}, kBytes}) {
      std::fill_n(memory, bytes, 7);
      fake_cuda::calls();
      stream.copy_in(buffer.handle(), 0, memory, bytes);
      std::fill_n(memory, bytes, 8);
      const bool staged = memory == pageable.data() ? bytes < kBytes : bytes < 20'000;
      EXPECT_EQ(testing::Matches(Contains("cuStreamSynchronize"))(fake_cuda::calls()), !staged);
      stream.copy_out(buffer.handle(), 0, memory, bytes);
      EXPECT_EQ(memory[0], 7);
      EXPECT_EQ(memory[bytes - 1], 7);
    }
}

TEST_F(Cuda, MemoryComesFromThePool) {
  const std::shared_ptr<PluginDevice> device = open();
  fake_cuda::calls();
  {
    const DeviceBuffer buffer = device->alloc(1000);
  }
  const std::vector<std::string> calls = fake_cuda::calls();
  EXPECT_THAT(calls, Contains("cuMemAllocAsync"));
  EXPECT_THAT(calls, Contains("cuMemFreeAsync"));
  EXPECT_THAT(calls, Not(Contains("cuMemFree_v2"))) << "it waits for the device";
}

TEST_F(Cuda, MemoryWithoutPools) {
  fake_cuda::set_memory_pools(false);
  const std::shared_ptr<PluginDevice> device = open();
  const DeviceBuffer buffer = device->alloc(1000);
  EXPECT_NE(buffer.device_address(), 0u);
}

TEST_F(Cuda, OutOfMemoryKeepsNothing) {
  const std::shared_ptr<PluginDevice> device = open();
  fake_cuda::fail("cuMemAllocAsync", primset_cuda::kErrorOutOfMemory);
  const auto [code, text] = error_of([&] { device->alloc(1000); });
  EXPECT_EQ(code, ErrorCode::out_of_memory);
  EXPECT_THAT(text, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)"));
  EXPECT_EQ(device->alloc(1000).bytes(), 1000u);
}

TEST_F(Cuda, TheDriverFillsShortPatterns) {
  const std::shared_ptr<PluginDevice> device = open();
  const StreamHandle stream = device->create_stream();
  const DeviceBuffer buffer = device->alloc(4096);
  const auto calls_for = [&](const void* pattern, uint32_t bytes) {
    fake_cuda::calls();
    stream.fill(buffer.handle(), 0, 4096, pattern, bytes);
    return fake_cuda::calls();
  };
  const uint64_t zero[2] = {}, words[2] = {0x0102030401020304, 0x0102030401020304};
  const uint64_t halves = 0x0102010201020102, whole = 0x0102030405060708;
  EXPECT_THAT(calls_for(zero, 16), Contains("cuMemsetD8Async"));
  EXPECT_THAT(calls_for(&halves, 8), Contains("cuMemsetD16Async"));
  EXPECT_THAT(calls_for(words, 16), Contains("cuMemsetD32Async"));
  EXPECT_THAT(calls_for(&whole, 8), Contains("cuMemcpyHtoDAsync_v2"));
  stream.synchronize();
}

// --- modules and launches ------------------------------------------------------------------------

TEST_F(Cuda, CompilesPtxOnce) {
  const TestKernel kernel = add_bias(PRIMSET_FORMAT_PTX);
  {
    const std::shared_ptr<PluginDevice> device = open();
    fake_cuda::calls();
    device->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
    EXPECT_THAT(fake_cuda::calls(), Contains("cuLinkAddData_v2"));
    device->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
    EXPECT_THAT(fake_cuda::calls(), Not(Contains("cuLinkAddData_v2")));
  }
  restart();
  fake_cuda::calls();
  open()->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
  EXPECT_THAT(fake_cuda::calls(), Not(Contains("cuLinkAddData_v2")));
  EXPECT_EQ(cache_files().size(), 1u);
}

TEST_F(Cuda, AnotherDriverCompilesAnew) {
  const TestKernel kernel = add_bias(PRIMSET_FORMAT_PTX);
  open()->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
  fake_cuda::set_version(13010);
  restart();
  fake_cuda::calls();
  open()->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
  EXPECT_THAT(fake_cuda::calls(), Contains("cuLinkAddData_v2"));
  EXPECT_EQ(cache_files().size(), 2u);
}

TEST_F(Cuda, DamagedFilesAreReplaced) {
  const TestKernel kernel = add_bias(PRIMSET_FORMAT_PTX);
  open()->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
  const fs::path file = cache_files().at(0);
  const auto size = fs::file_size(file);
  for (const uintmax_t kept : {uintmax_t{0}, uintmax_t{10}, size - 1, size}) {
    fs::resize_file(file, kept);
    if (kept == size) {  // the right length, one byte wrong
      std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
      out.seekp(static_cast<std::streamoff>(size / 2));
      out.put('\x7f');
    }
    fake_cuda::calls();
    open()->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
    EXPECT_THAT(fake_cuda::calls(), Contains("cuLinkAddData_v2")) << kept;
    EXPECT_EQ(fs::file_size(file), size);
  }
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(Cuda, ARefusedCubinIsCompiledAnew) {
  const TestKernel kernel = add_bias(PRIMSET_FORMAT_PTX);
  const std::shared_ptr<PluginDevice> device = open();
  device->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
  fake_cuda::fail("cuModuleLoadData", primset_cuda::kErrorNoBinaryForGpu);
  fake_cuda::calls();
  device->load_module(kernel.desc(PRIMSET_FORMAT_PTX));
  EXPECT_THAT(fake_cuda::calls(), Contains("cuLinkAddData_v2"));
}

TEST_F(Cuda, ACacheThatCannotBeWrittenIsNoError) {
  fs::create_directories(cache_);
  std::ofstream(cache_ / "cuda") << "a file where the folder should be";
  open()->load_module(add_bias(PRIMSET_FORMAT_PTX).desc(PRIMSET_FORMAT_PTX));
  EXPECT_THAT(logged_, IsEmpty());
}

TEST_F(Cuda, ModulesThatAreRefused) {
  const std::shared_ptr<PluginDevice> device = open();
  const auto load = [&](const auto& change) {
    TestKernel kernel = add_bias(PRIMSET_FORMAT_PTX);
    primset_module_desc desc = kernel.desc(PRIMSET_FORMAT_PTX);
    change(kernel, desc);
    return error_of([&] { device->load_module(desc); }).second;
  };
  EXPECT_THAT(load([](TestKernel& k, auto&) { k.words[0] ^= 0xff; }),
              HasSubstr("CUDA_ERROR_INVALID_PTX (218): fake: this is no PTX"));
  EXPECT_THAT(load([](TestKernel&, auto& d) { --d.size; }), HasSubstr("do not end in NUL"));
  EXPECT_THAT(load([](TestKernel&, auto& d) { d.entry = "other"; }), HasSubstr("load failed"));
  EXPECT_THAT(load([](TestKernel&, auto& d) { d.param_bytes = 8; }), HasSubstr("param_bytes 8"));
  EXPECT_THAT(load([](TestKernel&, auto& d) { d.format = PRIMSET_FORMAT_SPIRV_VULKAN; }),
              HasSubstr("the device takes format 3"));
}

// Loads a kernel that does nothing, and launches it.
void run_empty_kernel(PluginDevice& device, uint32_t group_memory, const std::string& body = "") {
  const std::string text =
      ".version 6.3\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(\n\t.param .u64 .ptr .global .align 4 k_param_0,\n"
      "\t.param .u32 k_param_1,\n\t.param .u64 k_param_2,\n\t.param .f32 k_param_3\n)\n"
      ".reqntid 64, 2, 1\n{\n" +
      body + "\tret;\n}\n";
  const uint32_t sizes[] = {4, 8, 4};
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = PRIMSET_FORMAT_PTX;
  desc.data = text.c_str();
  desc.size = text.size() + 1;
  desc.entry = "k";
  desc.group_size[0] = 64;
  desc.group_size[1] = 2;
  desc.group_size[2] = 1;
  desc.pointer_count = 1;
  desc.param_bytes = 32;
  desc.scalar_count = 3;
  desc.scalar_sizes = sizes;
  desc.group_memory = group_memory;
  const StreamHandle stream = device.create_stream();
  const ModuleHandle module = device.load_module(desc);
  const DeviceBuffer buffer = device.alloc(64);
  const primset_binding binding{buffer.handle(), 0, 64, PRIMSET_ACCESS_WRITE, 0};
  const uint64_t scalars[3] = {};
  primset_launch launch{};
  launch.struct_size = sizeof(launch);
  launch.kernel = module.kernel();
  launch.groups[0] = launch.groups[1] = launch.groups[2] = 3;
  launch.binding_count = 1;
  launch.bindings = &binding;
  launch.scalars = scalars;
  launch.scalar_bytes = sizeof(scalars);
  stream.launch(launch);
  stream.synchronize();
}

// The padding behind the last scalar belongs to the block, not to the kernel.
TEST_F(Cuda, ParameterBlocksEndWhereTheKernelsDo) {
  run_empty_kernel(*open(), 0);
}

TEST_F(Cuda, LaunchesBringTheWorkgroupMemoryThatModulesMayNotDeclare) {
  using testing::Contains;
  const std::shared_ptr<PluginDevice> device = open();
  run_empty_kernel(*device, 48 << 10);
  EXPECT_THAT(fake_cuda::calls(), testing::Not(Contains("cuFuncSetAttribute")));
  run_empty_kernel(*device, 192 << 10);
  EXPECT_THAT(fake_cuda::calls(), Contains("cuFuncSetAttribute"));
  fake_cuda::fail("cuFuncSetAttribute", primset_cuda::kErrorOutOfMemory);
  EXPECT_THAT(error_of([&] { run_empty_kernel(*device, 192 << 10); }).second,
              HasSubstr("cuFuncSetAttribute"));
}

TEST_F(Cuda, KernelsThatWaitThemselvesMayStartEarly) {
  const std::shared_ptr<PluginDevice> device = open();
  run_empty_kernel(*device, 0, "\tbar.sync \t0;\n");
  EXPECT_EQ(fake_cuda::dependent_launches(), 0);
  run_empty_kernel(*device, 0, "\tgriddepcontrol.wait;\n");
  EXPECT_EQ(fake_cuda::dependent_launches(), 1);
  // None of ours: what else asks the fake driver about every kernel relies on its answer.
  for (const char* too_early :
       {"\tst.global.b32 [%rd1], %r1;\n", "\t@%p1 ld.global.b32 %r1, [%rd1];\n"}) {
    const std::string body = too_early + std::string("\tgriddepcontrol.wait;\n");
    EXPECT_THAT(error_of([&] { run_empty_kernel(*device, 0, body); }).second,
                HasSubstr("cuLaunchKernelEx"));
    EXPECT_THAT(fake_cuda::violations(), Contains(HasSubstr("before it waits")));
  }
}

// --- errors --------------------------------------------------------------------------------------

TEST_F(Cuda, ALostDeviceSaysSoAndCanBeReleased) {
  const std::shared_ptr<PluginDevice> device = open();
  const StreamHandle stream = device->create_stream();
  const EventHandle event = device->create_event();
  const DeviceBuffer buffer = device->alloc(64);
  const ModuleHandle module =
      device->load_module(add_bias(PRIMSET_FORMAT_PTX).desc(PRIMSET_FORMAT_PTX));
  const uint64_t value = 0;
  stream.copy_in(buffer.handle(), 0, &value, 8);
  fake_cuda::fail("cuStreamSynchronize", primset_cuda::kErrorIllegalAddress, 0, true);
  const auto lost = [&](const auto& f) {
    const std::string text = error_of(f).second;
    EXPECT_THAT(text, HasSubstr("device lost"));
    EXPECT_THAT(text, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  };
  lost([&] { stream.synchronize(); });
  lost([&] { stream.copy_in(buffer.handle(), 0, &value, 8); });
  lost([&] { stream.fill(buffer.handle(), 0, 8, &value, 8); });
  lost([&] { device->alloc(64); });
  lost([&] { device->create_stream(); });
}

TEST_F(Cuda, FailuresOfEveryCallAreTold) {
  const std::shared_ptr<PluginDevice> device = open();
  const StreamHandle stream = device->create_stream();
  EventHandle event = device->create_event();
  const DeviceBuffer a = device->alloc(64), b = device->alloc(64);
  const auto told = [&](const std::string& function, const auto& f) {
    fake_cuda::fail(function, 999);
    EXPECT_THAT(error_of(f).second, HasSubstr("unknown error (999)")) << function;
  };
  uint64_t value = 3;
  told("cuMemHostAlloc", [&] { stream.copy_in(a.handle(), 0, &value, 8); });
  told("cuMemcpyHtoDAsync_v2", [&] { stream.copy_in(a.handle(), 0, &value, 8); });
  told("cuMemcpyDtoHAsync_v2", [&] { stream.copy_out(a.handle(), 0, &value, 8); });
  told("cuMemcpyDtoDAsync_v2", [&] { stream.copy(a.handle(), 0, b.handle(), 0, 8); });
  told("cuMemsetD8Async", [&] { stream.fill(a.handle(), 0, 8, "a", 1); });
  told("cuEventRecord", [&] { event.record(stream); });
  told("cuEventQuery", [&] { event.reached(); });
  told("cuEventSynchronize", [&] { event.synchronize(); });
  told("cuStreamWaitEvent", [&] { stream.wait(event); });
  told("cuEventCreate", [&] { device->create_event(); });
  told("cuStreamBeginCapture_v2", [&] { stream.begin_recording(); });
  for (const char* function : {"cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    stream.begin_recording();
    told(function, [&] { stream.end_recording(); });
  }
  stream.begin_recording();
  const RecordingHandle recording = stream.end_recording();
  told("cuGraphLaunch", [&] { stream.play(recording); });
  // And afterwards all is well.
  stream.copy_in(a.handle(), 0, &value, 8);
  value = 0;
  stream.copy_out(a.handle(), 0, &value, 8);
  EXPECT_EQ(value, 3u);
}

}  // namespace
}  // namespace primset::plugin
