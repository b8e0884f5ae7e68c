#include "ops/cpu/onednn_error.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include "runtime/address_space.h"
#include "runtime/error.h"

namespace torus::cpu {

namespace {

// SGEMM's code takes 18 MiB with oneDNN 2.6 and AVX-512, a convolution's less than 1.
constexpr size_t kRoomForCode = size_t{24} << 20;
static_assert(kRoomForCode <= kAddressSpaceReserve);

}  // namespace

void FailOnednn(std::string_view op, dnnl_status_t status) {
  if (status == dnnl_out_of_memory) Throw<BrokenEnvironment>(op, "oneDNN is out of memory");
  Throw<InternalError>(op, "oneDNN failed: {}", dnnl_status2str(status));
}

void RequireRoomForCode(std::string_view op) {
  if (FreeAddressSpace() < kRoomForCode)
    Throw<BrokenEnvironment>(op, "oneDNN needs {} MiB of address space for its code: {}",
                             kRoomForCode >> 20, AddressSpaceLeft());
}

}  // namespace torus::cpu
