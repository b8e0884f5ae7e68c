// CIFAR-100 (Krizhevsky, "Learning multiple layers of features from tiny images", 2009) in its
// binary version: a record is a coarse label, a fine label and the pixels (cifar_records.h).
#pragma once

#include <memory>
#include <string>

#include "data/datasets/cifar_records.h"
#include "data/datasets/image_set.h"

namespace torus::data {

inline constexpr CifarForm kCifar100{.labels = 2, .label = 1, .classes = 100};

// Reads `dir`/train.bin (50,000 records) or test.bin (10,000), and the names of the 100 fine
// classes from fine_label_names.txt. The files may also be in `dir`/cifar-100-binary, where the
// published archive puts them. Images are (32, 32, 3). Normalisation: mean 0.5071, 0.4865, 0.4409,
// std 0.2673, 0.2564, 0.2762, of the training images. Throws BadInput naming the file if it
// violates the format.
std::unique_ptr<ImageSet> OpenCifar100(const std::string& dir, Split split);

}  // namespace torus::data
