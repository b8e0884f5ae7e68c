#include "tools/common/limit_memory.h"

#include "runtime/allocator.h"
#include "runtime/stream.h"

namespace torus::tools {

void LimitMemory(uint64_t bytes) {
  if (bytes == 0) return;
  AllocatorFor({}).SetLimit(bytes);
  for (int gpu = 0; gpu < GpuCount(); ++gpu) AllocatorFor({DeviceKind::kCuda, gpu}).SetLimit(bytes);
}

}  // namespace torus::tools
