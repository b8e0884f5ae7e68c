// Random erasing (Zhong et al. 2020, "Random erasing data augmentation"), as torchvision's
// RandomErasing with its defaults.
#pragma once

#include <optional>

#include "data/images/augment.h"

namespace torus::data {

// The stream that an example's erasing draws from.
RandomStream ErasingStream(uint64_t seed, int64_t epoch, int64_t example);

// With this probability a window to erase: its area is uniform in 2 to 33 % of the image, its ratio
// of height to width log-uniform in 0.3 to 3.3, its place uniform. None if ten draws do not fit.
std::optional<Window> RandomErasing(double probability, int64_t height, int64_t width,
                                    const RandomStream& random);

}  // namespace torus::data
