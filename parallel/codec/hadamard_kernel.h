// The Hadamard transform of one block, on vectors. Highway picks the vector width; every width
// gives the same bits.
#pragma once

#include <cstdint>

namespace torus::parallel {

// In place: values = last * H(first * factor * values), element by element. H is the unnormalised
// Walsh-Hadamard transform, its own inverse up to the factor `size`, a power of two. `first` and
// `last` are signs, 1 or -1.
void SignedHadamard(float* values, int64_t size, const float* first, float factor,
                    const float* last);

}  // namespace torus::parallel
