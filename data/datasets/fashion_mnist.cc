#include "data/datasets/fashion_mnist.h"

#include <cstring>
#include <filesystem>

#include "data/datasets/idx.h"
#include "runtime/kernels.h"

namespace torus::data {
namespace {

constexpr int64_t kSide = 28, kPad = 2, kPadded = kSide + 2 * kPad, kChannels = 3;

std::string FindFile(const std::string& dir, Split split, const std::string& what) {
  const std::string plain = dir + (split == Split::kTrain ? "/train-" : "/t10k-") + what;
  // If neither exists, the error names the .gz file.
  return std::filesystem::exists(std::filesystem::path(plain)) ? plain : plain + ".gz";
}

// (N, 28, 28) to (N, 32, 32, 3).
Tensor PadAndRepeat(const Tensor& grey) {
  const int64_t count = grey.dim(0);
  Tensor out = Zeros({count, kPadded, kPadded, kChannels}, DType::kU8);
  const uint8_t* from = grey.data<uint8_t>();
  uint8_t* const begin = out.mutable_data<uint8_t>();
  for (int64_t row = 0; row < count * kSide; ++row) {
    const int64_t image = row / kSide, y = row % kSide + kPad;
    uint8_t* to = begin + ((image * kPadded + y) * kPadded + kPad) * kChannels;
    for (int64_t x = 0; x < kSide; ++x, ++from, to += kChannels) {
      std::memset(to, *from, kChannels);
    }
  }
  return out;
}

DatasetInfo Info(Split split) {
  return {.name = fmt::format("fashion-mnist {}", Name(split)),
          .classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                      "Sneaker", "Bag", "Ankle boot"},
          .image = {},
          .normalization = {{0.2860f, 0.2860f, 0.2860f}, {0.3530f, 0.3530f, 0.3530f}}};
}

}  // namespace

std::unique_ptr<ImageSet> OpenFashionMnist(const std::string& dir, Split split) {
  const std::string image_file = FindFile(dir, split, "images-idx3-ubyte");
  const std::string label_file = FindFile(dir, split, "labels-idx1-ubyte");
  const Tensor images = ReadIdx(image_file, 3);
  const Tensor labels = ReadIdx(label_file, 1).To(DType::kI64);
  Require(images.dim(1) == kSide && images.dim(2) == kSide, image_file,
          "requires images of 28 x 28, got {} x {}", images.dim(1), images.dim(2));
  Require(images.dim(0) == labels.dim(0), label_file,
          "requires a label for each of the {} images of {}, got {} labels", images.dim(0),
          image_file, labels.dim(0));
  DatasetInfo info = Info(split);
  CheckLabels(label_file, labels, static_cast<int64_t>(info.classes.size()));
  return std::make_unique<ImageSet>(std::move(info), PadAndRepeat(images), labels);
}

}  // namespace torus::data
