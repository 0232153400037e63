#include "primset/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "primset/error.h"

namespace primset {
namespace {

TEST(Device, NamesAreComparedByTheirText) {
  EXPECT_EQ(Device("acme"), Device("acme", 0));
  EXPECT_NE(Device("acme:1"), Device("acme:0"));
  EXPECT_NE(Device("acme:0"), Device("acma:0"));
  EXPECT_EQ(Device("acme:7").to_string(), "acme:7");
}

// Names are kept, and there are 65,536 numbers for them: the next one is no other device. In a
// process of its own, which is left without names.
int use_up_names() {
  int made = 0;
  try {
    for (; made < 70'000; ++made) Device(std::string("d") + std::to_string(made));
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  const bool known_stay = Device("d5") == Device("d5:0") && Device("d5") != Device::cpu();
  return made == 65'534 && known_stay && Device("cpu").is_cpu() ? 0 : 1;  // cpu and meta are two
}

TEST(DeviceDeathTest, NamesThatRunOutAreAnError) {
  EXPECT_EXIT(std::_Exit(use_up_names()), testing::ExitedWithCode(0),
              "Device 'd65534': this process has used the names of 65536 types");
}

}  // namespace
}  // namespace primset
