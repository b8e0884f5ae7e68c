// CIFAR-10 (Krizhevsky, "Learning multiple layers of features from tiny images", 2009) in its
// binary version: a record is one label byte and the pixels (cifar_records.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/datasets/image_set.h"

namespace torus::data {

inline constexpr int64_t kCifarRecordsPerFile = 10000;

// Reads `dir`/data_batch_1.bin to data_batch_5.bin, or test_batch.bin, and the class names from
// batches.meta.txt. The files may also be in `dir`/cifar-10-batches-bin, where the published
// archive puts them. Images are (32, 32, 3). Normalisation: mean 0.4914, 0.4822, 0.4465, std
// 0.2470, 0.2435, 0.2616, of the 50,000 training images (a test recomputes them). Throws BadInput
// naming the file if it violates the format.
std::unique_ptr<ImageSet> OpenCifar10(const std::string& dir, Split split);

// ReadCifarRecords of one of its files.
void ReadCifarFile(const std::string& path, int64_t records, int64_t first, Tensor& images,
                   Tensor& labels);

}  // namespace torus::data
