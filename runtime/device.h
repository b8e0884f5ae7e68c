// Where memory lives and work runs.
#pragma once

#include <fmt/format.h>

#include <string>

namespace torus {

// A tensor on `kMeta` has a shape and a dtype and no memory: ops that run on such tensors compute
// nothing, so that shapes and costs can be learnt at any size.
enum class DeviceKind : unsigned char { kCpu, kCuda, kMeta };

// The CPU, a GPU, or the device without memory.
struct Device {
  DeviceKind kind = DeviceKind::kCpu;  // which kind it is
  int index = 0;                       // of a GPU; 0 elsewhere
  friend bool operator==(const Device&, const Device&) = default;
};

// What a kernel is given to put its work into: cudaStream_t, null for a GPU's default stream and on
// a CPU.
using StreamHandle = void*;

inline constexpr Device kMetaDevice{DeviceKind::kMeta, 0};  // where tensors have no memory

// "cpu", "cuda:1" or "meta".
inline std::string ToString(Device device) {
  if (device.kind == DeviceKind::kMeta) return "meta";
  return device.kind == DeviceKind::kCpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

}  // namespace torus

// In messages a device is what ToString says of it.
template <>
struct fmt::formatter<torus::Device> : fmt::formatter<std::string> {
  template <class Context>
  auto format(torus::Device device, Context& context) const {
    return fmt::formatter<std::string>::format(torus::ToString(device), context);
  }
};
