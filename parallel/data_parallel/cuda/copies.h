// Many copies at once on a GPU; parallel/data_parallel/kernels.h has the contract.
#pragma once

#include <vector>

#include "parallel/data_parallel/copy_item.h"
#include "runtime/device.h"

namespace torus::parallel::cuda {

void CopyAll(std::vector<CopyItem>& items, StreamHandle stream);

}  // namespace torus::parallel::cuda
