#include "data/datasets/fashion_mnist.h"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "data/datasets/class_folders.h"
#include "data/datasets/fashion_csv.h"
#include "data/datasets/idx.h"
#include "runtime/kernels.h"

namespace torus::data {
namespace {

constexpr int64_t kSide = 28, kPad = 2, kPadded = kSide + 2 * kPad, kChannels = 3;

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// An IDX file in `dir`, plain, gzip, or in a folder of its own name as some programs unpack it;
// empty if there is none. `what`: "images-idx3-ubyte".
std::string FindIdx(const std::string& dir, Split split, const std::string& what) {
  const std::string name = (split == Split::kTrain ? "train-" : "t10k-") + what;
  for (const std::string& file : {name, name + ".gz", name + "/" + name})
    if (IsFile(dir + "/" + file)) return dir + "/" + file;
  return "";
}

struct Grey {
  Tensor images;  // u8 (N, 28, 28)
  Tensor labels;  // i64 (N)
  std::string image_file, label_file;
};

Grey ReadIdxFiles(const std::string& dir, Split split, const std::string& image_file) {
  const std::string label_file = FindIdx(dir, split, "labels-idx1-ubyte");
  Require(!label_file.empty(), dir, "requires the labels of {}: {}-labels-idx1-ubyte, plain or .gz",
          image_file, split == Split::kTrain ? "train" : "t10k");
  return {ReadIdx(image_file, 3), ReadIdx(label_file, 1).To(DType::kI64), image_file, label_file};
}

// Looks where torchvision puts the files, and for Kaggle's CSV.
Grey ReadFiles(const std::string& dir, Split split) {
  const std::string places[] = {dir, dir + "/FashionMNIST/raw", dir + "/raw"};
  for (const std::string& place : places)
    if (const std::string found = FindIdx(place, split, "images-idx3-ubyte"); !found.empty())
      return ReadIdxFiles(place, split, found);
  const std::string csv = fmt::format("fashion-mnist_{}.csv", Name(split));
  if (const std::string path = dir + "/" + csv; IsFile(path)) {
    CsvImages read = ReadFashionCsv(path);
    return {std::move(read.images), std::move(read.labels), path, path};
  }
  Throw<BadInput>(dir,
                  "no Fashion-MNIST here: looked for {}-images-idx3-ubyte, plain or .gz, also in "
                  "FashionMNIST/raw and raw, and for {}; got {}",
                  split == Split::kTrain ? "train" : "t10k", csv, EntriesOf(dir));
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
  const auto [images, labels, image_file, label_file] = ReadFiles(dir, split);
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
