#include "parallel/data_parallel/kernels.h"
#include "runtime/kernels.h"

namespace torus::parallel::cpu {

void CopyAll(std::vector<CopyItem>& items) {
  for (CopyItem& item : items) {
    if (!item.from.defined()) {
      Fill(item.to, item.value);
      continue;
    }
    Tensor to = item.to.View(item.from.shape());
    Copy(item.from, to);
  }
}

}  // namespace torus::parallel::cpu
