// The driver for tests, through Level Zero's loader: what it makes of commands that nothing orders,
// and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "backends/level_zero/functions.h"

namespace primset_level_zero {
namespace {

constexpr size_t kBytes = 4096;

class CpuDriver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ze.load());
    ASSERT_EQ(ze.zeInit(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    uint32_t count = 1;
    ze_driver_handle_t driver = nullptr;
    ASSERT_EQ(ze.zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
    ASSERT_EQ(ze.zeDeviceGet(driver, &count, &device), ZE_RESULT_SUCCESS);
    ze_context_desc_t context_desc{};
    ASSERT_EQ(ze.zeContextCreate(driver, &context_desc, &context), ZE_RESULT_SUCCESS);
    ze_command_queue_desc_t queue_desc{};
    ASSERT_EQ(ze.zeCommandListCreateImmediate(context, device, &queue_desc, &list),
              ZE_RESULT_SUCCESS);
    ze_event_pool_desc_t pool_desc{};
    pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    pool_desc.count = static_cast<uint32_t>(events.size());
    ASSERT_EQ(ze.zeEventPoolCreate(context, &pool_desc, 1, &device, &pool), ZE_RESULT_SUCCESS);
    for (uint32_t i = 0; i < events.size(); ++i) {
      ze_event_desc_t event_desc{};
      event_desc.index = i;
      ASSERT_EQ(ze.zeEventCreate(pool, &event_desc, &events[i]), ZE_RESULT_SUCCESS);
    }
    ze_host_mem_alloc_desc_t host_desc{};
    void* address = nullptr;
    ASSERT_EQ(ze.zeMemAllocHost(context, &host_desc, kBytes, 64, &address), ZE_RESULT_SUCCESS);
    memory = static_cast<unsigned char*>(address);
  }

  void TearDown() override {
    EXPECT_EQ(ze.zeCommandListDestroy(list), ZE_RESULT_SUCCESS);
    for (ze_event_handle_t event : events) EXPECT_EQ(ze.zeEventDestroy(event), ZE_RESULT_SUCCESS);
    EXPECT_EQ(ze.zeEventPoolDestroy(pool), ZE_RESULT_SUCCESS);
    EXPECT_EQ(ze.zeMemFree(context, memory), ZE_RESULT_SUCCESS);
    EXPECT_EQ(ze.zeContextDestroy(context), ZE_RESULT_SUCCESS);
  }

  ze_result_t fill(ze_command_list_handle_t on, unsigned char value) {
    return ze.zeCommandListAppendMemoryFill(on, memory, &value, 1, kBytes, nullptr, 0, nullptr);
  }
  ze_result_t barrier(ze_command_list_handle_t on, ze_event_handle_t signal = nullptr,
                      ze_event_handle_t wait = nullptr) {
    return ze.zeCommandListAppendBarrier(on, signal, wait ? 1 : 0, wait ? &wait : nullptr);
  }
  void finish() {
    ASSERT_EQ(barrier(list, events[0]), ZE_RESULT_SUCCESS);
    ASSERT_EQ(ze.zeEventHostSynchronize(events[0], UINT64_MAX), ZE_RESULT_SUCCESS);
    ASSERT_EQ(ze.zeEventHostReset(events[0]), ZE_RESULT_SUCCESS);
  }

  Functions ze;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_command_list_handle_t list = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  std::array<ze_event_handle_t, 3> events{};
  unsigned char* memory = nullptr;
};

// With ZE_TEST_ORDER=reverse.
using CpuDriverReversed = CpuDriver;
// With ZE_TEST_STRICT=1.
using CpuDriverStrict = CpuDriver;
// With ZE_TEST_STRICT=1, ZE_TEST_DEVICES=2 and ZE_TEST_PEERS=none; `list` and `events` are of the
// first device.
class CpuDriverApart : public CpuDriver {
 protected:
  void SetUp() override {
    CpuDriver::SetUp();
    ze_driver_handle_t driver = nullptr;
    uint32_t count = 1;
    ASSERT_EQ(ze.zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
    count = 0;
    ASSERT_EQ(ze.zeDeviceGet(driver, &count, nullptr), ZE_RESULT_SUCCESS);
    ASSERT_EQ(count, devices.size());
    ASSERT_EQ(ze.zeDeviceGet(driver, &count, devices.data()), ZE_RESULT_SUCCESS);
    ASSERT_EQ(devices[0], device);
    ze_command_queue_desc_t queue_desc{};
    ASSERT_EQ(ze.zeCommandListCreateImmediate(context, devices[1], &queue_desc, &other_list),
              ZE_RESULT_SUCCESS);
    ze_device_mem_alloc_desc_t desc{};
    for (size_t i = 0; i < devices.size(); ++i)
      ASSERT_EQ(ze.zeMemAllocDevice(context, &desc, kBytes, 64, devices[i], &memories[i]),
                ZE_RESULT_SUCCESS);
  }

  void TearDown() override {
    EXPECT_EQ(ze.zeCommandListDestroy(other_list), ZE_RESULT_SUCCESS);
    for (void* m : memories) EXPECT_EQ(ze.zeMemFree(context, m), ZE_RESULT_SUCCESS);
    CpuDriver::TearDown();
  }

  std::array<ze_device_handle_t, 2> devices{};
  std::array<void*, 2> memories{};
  ze_command_list_handle_t other_list = nullptr;  // of the second device
};

TEST_F(CpuDriverReversed, WhatNoBarrierPartsRunsInTheOtherOrder) {
  for (const unsigned char value : {1, 2, 3}) ASSERT_EQ(fill(list, value), ZE_RESULT_SUCCESS);
  finish();
  EXPECT_EQ(memory[0], 1);
  EXPECT_EQ(memory[kBytes - 1], 1);
}

TEST_F(CpuDriverReversed, ABarrierKeepsTheOrder) {
  for (int i = 0; i < 20; ++i) {
    for (const unsigned char value : {1, 2, 3}) {
      ASSERT_EQ(fill(list, value), ZE_RESULT_SUCCESS);
      ASSERT_EQ(barrier(list), ZE_RESULT_SUCCESS);
    }
    finish();
    ASSERT_EQ(memory[0], 3);
    ASSERT_EQ(memory[kBytes - 1], 3);
  }
}

TEST_F(CpuDriverReversed, AClosedListRunsAsOftenAsItIsGiven) {
  ze_command_list_desc_t list_desc{};
  ze_command_queue_desc_t queue_desc{};
  ze_command_list_handle_t recorded = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  ASSERT_EQ(ze.zeCommandListCreate(context, device, &list_desc, &recorded), ZE_RESULT_SUCCESS);
  ASSERT_EQ(ze.zeCommandQueueCreate(context, device, &queue_desc, &queue), ZE_RESULT_SUCCESS);
  ASSERT_EQ(barrier(recorded, nullptr, events[1]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(ze.zeCommandListAppendEventReset(recorded, events[1]), ZE_RESULT_SUCCESS);
  ASSERT_EQ(fill(recorded, 9), ZE_RESULT_SUCCESS);
  ASSERT_EQ(barrier(recorded, events[2]), ZE_RESULT_SUCCESS);
  EXPECT_NE(ze.zeCommandQueueExecuteCommandLists(queue, 1, &recorded, nullptr), ZE_RESULT_SUCCESS)
      << "it is not closed";
  ASSERT_EQ(ze.zeCommandListClose(recorded), ZE_RESULT_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    memory[7] = 0;
    ASSERT_EQ(ze.zeCommandQueueExecuteCommandLists(queue, 1, &recorded, nullptr),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(ze.zeEventQueryStatus(events[2]), ZE_RESULT_NOT_READY) << "it waits for an event";
    ASSERT_EQ(barrier(list, events[1]), ZE_RESULT_SUCCESS);
    ASSERT_EQ(ze.zeEventHostSynchronize(events[2], UINT64_MAX), ZE_RESULT_SUCCESS);
    EXPECT_EQ(memory[7], 9);
    ASSERT_EQ(ze.zeEventHostReset(events[2]), ZE_RESULT_SUCCESS);
    EXPECT_EQ(ze.zeEventQueryStatus(events[1]), ZE_RESULT_NOT_READY) << "the list clears it";
  }
  EXPECT_EQ(ze.zeCommandListDestroy(recorded), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeCommandQueueDestroy(queue), ZE_RESULT_SUCCESS);
}

TEST_F(CpuDriverStrict, WritesOfTheSameMemoryNeedABarrier) {
  ASSERT_EQ(fill(list, 1), ZE_RESULT_SUCCESS);
  EXPECT_EQ(fill(list, 2), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  ASSERT_EQ(barrier(list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(fill(list, 2), ZE_RESULT_SUCCESS);
  finish();
}

TEST_F(CpuDriverStrict, WhatCommandsUseStays) {
  ASSERT_EQ(fill(list, 1), ZE_RESULT_SUCCESS);
  ASSERT_EQ(barrier(list, events[2], events[1]), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeEventHostReset(events[1]), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(ze.zeEventDestroy(events[2]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  ASSERT_EQ(fill(list, 2), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeMemFree(context, memory), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  ASSERT_EQ(ze.zeEventHostSignal(events[1]), ZE_RESULT_SUCCESS);
  finish();
  EXPECT_EQ(ze.zeEventHostReset(events[1]), ZE_RESULT_SUCCESS);
}

TEST_F(CpuDriverStrict, HandlesAreOfLivingObjectsOfTheirKind) {
  ze_event_desc_t desc{};
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(ze.zeEventCreate(pool, &desc, &event), ZE_RESULT_SUCCESS);
  ASSERT_EQ(ze.zeEventDestroy(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeEventHostReset(event), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(ze.zeEventHostReset(reinterpret_cast<ze_event_handle_t>(list)),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(CpuDriverStrict, CopiesAreOfUnifiedMemory) {
  std::array<char, 16> own{};
  EXPECT_EQ(
      ze.zeCommandListAppendMemoryCopy(list, memory, own.data(), own.size(), nullptr, 0, nullptr),
      ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(CpuDriverApart, DevicesHaveUuidsOfTheirOwn) {
  std::array<ze_device_properties_t, 2> p{};
  for (size_t i = 0; i < p.size(); ++i)
    ASSERT_EQ(ze.zeDeviceGetProperties(devices[i], &p[i]), ZE_RESULT_SUCCESS);
  EXPECT_NE(std::memcmp(&p[0].uuid, &p[1].uuid, sizeof(p[0].uuid)), 0);
}

TEST_F(CpuDriverApart, MemoryIsItsDevices) {
  ze_bool_t can = 1;
  EXPECT_EQ(ze.zeDeviceCanAccessPeer(devices[0], devices[1], &can), ZE_RESULT_SUCCESS);
  EXPECT_FALSE(can);
  const auto copy = [&](ze_command_list_handle_t on, void* to, void* from) {
    return ze.zeCommandListAppendMemoryCopy(on, to, from, 16, nullptr, 0, nullptr);
  };
  EXPECT_EQ(copy(list, memories[0], memories[1]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(copy(other_list, memories[0], memories[1]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(copy(list, memory, memories[1]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(copy(list, memory, memories[0]), ZE_RESULT_SUCCESS) << "the host's is everybody's";
  finish();
  EXPECT_EQ(copy(other_list, memories[1], memory), ZE_RESULT_SUCCESS);
}

TEST_F(CpuDriverApart, EventsServeTheDevicesOfTheirPool) {
  EXPECT_EQ(barrier(other_list, events[0]), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(barrier(other_list, nullptr, events[0]),
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  ze_event_pool_desc_t pool_desc{};
  pool_desc.count = 1;
  ze_event_pool_handle_t of_all = nullptr;
  ASSERT_EQ(ze.zeEventPoolCreate(context, &pool_desc, 0, nullptr, &of_all), ZE_RESULT_SUCCESS);
  ze_event_desc_t event_desc{};
  ze_event_handle_t event = nullptr;
  ASSERT_EQ(ze.zeEventCreate(of_all, &event_desc, &event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(barrier(other_list, event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(barrier(list, nullptr, event), ZE_RESULT_SUCCESS);
  finish();
  EXPECT_EQ(ze.zeEventDestroy(event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeEventPoolDestroy(of_all), ZE_RESULT_SUCCESS);
}

TEST_F(CpuDriverApart, AQueueRunsListsOfItsDevice) {
  ze_command_list_desc_t list_desc{};
  ze_command_queue_desc_t queue_desc{};
  ze_command_list_handle_t recorded = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  ASSERT_EQ(ze.zeCommandListCreate(context, devices[0], &list_desc, &recorded), ZE_RESULT_SUCCESS);
  ASSERT_EQ(ze.zeCommandQueueCreate(context, devices[1], &queue_desc, &queue), ZE_RESULT_SUCCESS);
  ASSERT_EQ(ze.zeCommandListClose(recorded), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeCommandQueueExecuteCommandLists(queue, 1, &recorded, nullptr),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ze.zeCommandListDestroy(recorded), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ze.zeCommandQueueDestroy(queue), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace primset_level_zero
