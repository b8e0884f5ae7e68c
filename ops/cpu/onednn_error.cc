#include "ops/cpu/onednn_error.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include "runtime/error.h"

namespace torus::cpu {

void FailOnednn(std::string_view op, dnnl_status_t status) {
  if (status == dnnl_out_of_memory) Throw<BrokenEnvironment>(op, "oneDNN is out of memory");
  Throw<InternalError>(op, "oneDNN failed: {}", dnnl_status2str(status));
}

}  // namespace torus::cpu
