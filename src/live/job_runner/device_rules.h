#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

// The number of a character device, as its file in /dev has it.
struct DeviceNumber {
  unsigned major = 0;
  unsigned minor = 0;
  bool operator==(const DeviceNumber&) const = default;
};

// Nothing where the file is missing or is no character device.
std::optional<DeviceNumber> device_number(const std::string& path);

// Keeps the processes of a cgroup from opening these devices; all others stay as they are.
// `version` is that of the cgroup's hierarchy: in version 1 the directory is one of the devices
// controller, in version 2 the kernel is given a small BPF program. Both need root.
Status close_devices(const std::string& cgroup, int version, std::span<const DeviceNumber> closed);

}  // namespace orrery
