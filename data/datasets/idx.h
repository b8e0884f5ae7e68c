// IDX, the format of MNIST and Fashion-MNIST (LeCun, "The MNIST database", "File formats"): two
// zero bytes, the element type, the number of dimensions, each size as a big-endian 32-bit number,
// then the elements.
#pragma once

#include <string>

#include "runtime/tensor.h"

namespace torus::data {

// Reads an IDX file of unsigned bytes with `rank` dimensions, plain or gzip, as a u8 tensor of the
// header's shape. Throws BadInput naming the file if the magic number, a size, or the number of
// bytes violates the format.
Tensor ReadIdx(const std::string& path, int rank);

}  // namespace torus::data
