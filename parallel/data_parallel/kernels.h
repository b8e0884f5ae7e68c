// The kernels of gradient buckets.
#pragma once

#include <vector>

#include "parallel/data_parallel/copy_item.h"
#include "runtime/kernel_table.h"

namespace torus::parallel {

// Makes the copies of all items, of which there is at least one, on one device; on a GPU with one
// launch a dtype. No item may read what another writes.
TORUS_KERNEL(CopyAll, "copy_all", items.front().to.device(), (std::vector<CopyItem> & items),
             (items));

}  // namespace torus::parallel
