// Many copies at once on a CPU; parallel/data_parallel/kernels.h has the contract.
#pragma once

#include <vector>

#include "parallel/data_parallel/copy_item.h"

namespace torus::parallel::cpu {

void CopyAll(std::vector<CopyItem>& items);

}  // namespace torus::parallel::cpu
