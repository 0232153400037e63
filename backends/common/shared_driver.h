// The one driver of a plugin: the library behind it, or its API's instance, with its devices.
#ifndef PRIMSET_BACKENDS_COMMON_SHARED_DRIVER_H_
#define PRIMSET_BACKENDS_COMMON_SHARED_DRIVER_H_

#include <primset/plugin.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/common/abi_boundary.h"
#include "backends/common/status.h"

namespace primset_backend {

// What a plugin makes once for all of its devices. Its constructor may throw BackendError; without
// any device on the machine it succeeds, and devices() is empty.
template <typename T>
concept DriverOfDevices =
    std::constructible_from<T, const primset_host*> && requires(const T& driver) {
      { driver.devices().size() } -> std::convertible_to<size_t>;
    };

// What drivers are made of who keep a PhysicalDevice for each of their devices. Once it is made, a
// driver's devices stay where they are.
template <typename PhysicalDevice>
class DeviceList {
 public:
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  const primset_host* host() const { return host_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }

 protected:
  // The back end's name begins every line of its log.
  DeviceList(const primset_host* host, const char* backend) : host_(host), backend_(backend) {}
  ~DeviceList() = default;

  // Why there are no devices, or not some of them, is no error.
  void tell(const std::string& text) const {
    log(host_, PRIMSET_LOG_INFO, std::string(backend_) + ": " + text);
  }

  std::vector<PhysicalDevice> devices_;

 private:
  const primset_host* host_;
  const char* backend_;
};

// Holds a plugin's driver from the first call that needs it until the host releases the plugin: one
// that is only listed by name starts no driver. A plugin has one of these, and it is static.
//
// Any thread may call any function at any time. One mutex guards the host's table and the making
// and dropping of the driver: threads that come together wait for one to make it. Asking its
// devices and opening one happen outside the mutex, so a driver's devices() may be read by several
// threads at once.
//
// Open devices share the driver, and keep theirs should a release come before they close; a call
// after the release makes a new one. A driver whose making failed is tried again by the next call.
template <DriverOfDevices Driver>
class SharedDriver {
 public:
  // What a driver made from here on is given; lives until release().
  void set_host(const primset_host* host) {
    const std::lock_guard lock(mutex_);
    host_ = host;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    driver_.reset();
  }

  // --- what plugin.h asks of a plugin's functions of the same names ------------------------------

  primset_status* device_count(uint32_t* out_count) {
    *out_count = 0;
    return guarded("device_count",
                   [&] { *out_count = static_cast<uint32_t>(get()->devices().size()); });
  }

  // Device is primset_device_t, made from the driver and an index that it has.
  template <typename Device>
  primset_status* device_open(uint32_t index, Device** out_device) {
    *out_device = nullptr;
    return guarded("device_open", [&] {
      std::shared_ptr<Driver> driver = get();
      check_index(index, driver->devices().size());
      *out_device = new Device(std::move(driver), index);
    });
  }

 private:
  std::shared_ptr<Driver> get() {
    const std::lock_guard lock(mutex_);
    if (!driver_) driver_ = std::make_shared<Driver>(host_);
    return driver_;
  }

  std::mutex mutex_;
  const primset_host* host_ = nullptr;
  std::shared_ptr<Driver> driver_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_SHARED_DRIVER_H_
