// Where memory lives and work runs.
#pragma once

#include <string>

namespace torus {

#ifdef TORUS_HAVE_CUDA
inline constexpr bool kHasCuda = true;
#else
inline constexpr bool kHasCuda = false;
#endif

enum class DeviceKind : unsigned char { kCpu, kCuda };

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;  // of a GPU; 0 on a CPU
  friend bool operator==(const Device&, const Device&) = default;
};

// "cpu" or "cuda:1".
inline std::string ToString(Device device) {
  return device.kind == DeviceKind::kCpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

// The one place that chooses between the CPU kernel and the CUDA one. `cuda` is not compiled into a
// build without CUDA.
template <class Cpu, class Cuda>
decltype(auto) OnDevice(Device device, Cpu&& cpu, Cuda&& cuda) {
  if constexpr (kHasCuda) {
    if (device.kind == DeviceKind::kCuda) return cuda();
  }
  return cpu();
}

}  // namespace torus
