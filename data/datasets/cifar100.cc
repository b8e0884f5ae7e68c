#include "data/datasets/cifar100.h"

#include <utility>

#include "data/datasets/find_folder.h"

namespace torus::data {

namespace {

const PublishedFolder kPublished{
    .title = "CIFAR-100",
    .file = "fine_label_names.txt",
    .inside = {"cifar-100-binary"},
    .hint = " (the binary version is needed: cifar-100-binary.tar.gz)"};

}  // namespace

std::unique_ptr<ImageSet> OpenCifar100(const std::string& given, Split split) {
  const std::string dir = FindFolder(given, kPublished);
  const bool train = split == Split::kTrain;
  const int64_t count = train ? 50000 : 10000;
  DatasetInfo info{.name = fmt::format("cifar100 {}", Name(split)),
                   .classes = ReadClassNames(dir + "/fine_label_names.txt", kCifar100.classes),
                   .image = {},
                   .normalization = {{0.5071f, 0.4865f, 0.4409f}, {0.2673f, 0.2564f, 0.2762f}}};
  Tensor images({count, kCifarSide, kCifarSide, 3}, DType::kU8), labels({count}, DType::kI64);
  ReadCifarRecords(dir + (train ? "/train.bin" : "/test.bin"), kCifar100, count, 0, images, labels);
  return std::make_unique<ImageSet>(std::move(info), std::move(images), std::move(labels));
}

}  // namespace torus::data
