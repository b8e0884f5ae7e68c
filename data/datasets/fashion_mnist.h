// Fashion-MNIST (Xiao, Rasul, Vollgraf, "Fashion-MNIST: a novel image dataset", 2017) from its four
// IDX files, or from CSV.
#pragma once

#include <memory>
#include <string>

#include "data/datasets/image_set.h"

namespace torus::data {

// Where Debian's package dataset-fashion-mnist puts it.
inline constexpr char kFashionMnistDir[] = "/usr/share/datasets/fashion-mnist";

// Reads `dir`/train-images-idx3-ubyte.gz and so on (or the same without .gz), also from
// FashionMNIST/raw in it, where torchvision puts them; or else fashion-mnist_train.csv or
// fashion-mnist_test.csv as Kaggle has them (fashion_csv.h). The 28 x 28 grey images are padded
// with black to 32 x 32 and repeated in three channels: (32, 32, 3). Normalisation: mean 0.2860,
// std 0.3530, of the 60,000 training images before padding (a test recomputes both). Throws
// BadInput naming the file if it violates the format, and the folder if it has neither.
std::unique_ptr<ImageSet> OpenFashionMnist(const std::string& dir, Split split);

}  // namespace torus::data
