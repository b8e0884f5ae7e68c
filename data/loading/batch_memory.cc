#include "data/loading/batch_memory.h"

#include "runtime/pinned.h"

namespace torus::data {

Tensor EmptyIn(BatchMemory memory, const Shape& shape, DType dtype) {
  return memory == BatchMemory::kPinned ? EmptyPinned(shape, dtype) : Empty(shape, dtype);
}

}  // namespace torus::data
