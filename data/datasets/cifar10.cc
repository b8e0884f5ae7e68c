#include "data/datasets/cifar10.h"

#include <utility>

#include "data/datasets/cifar_records.h"
#include "data/datasets/find_folder.h"

namespace torus::data {
namespace {

constexpr CifarForm kForm{.labels = 1, .label = 0, .classes = 10};

const PublishedFolder kPublished{.title = "CIFAR-10",
                                 .file = "batches.meta.txt",
                                 .inside = {"cifar-10-batches-bin"},
                                 .hint = " (the binary version is needed: cifar-10-binary.tar.gz)"};

std::vector<std::string> Files(const std::string& dir, Split split) {
  if (split == Split::kTest) return {dir + "/test_batch.bin"};
  std::vector<std::string> files;
  for (int i = 1; i <= 5; ++i) files.push_back(fmt::format("{}/data_batch_{}.bin", dir, i));
  return files;
}

}  // namespace

void ReadCifarFile(const std::string& path, int64_t records, int64_t first, Tensor& images,
                   Tensor& labels) {
  ReadCifarRecords(path, kForm, records, first, images, labels);
}

std::unique_ptr<ImageSet> OpenCifar10(const std::string& given, Split split) {
  const std::string dir = FindFolder(given, kPublished);
  const std::vector<std::string> files = Files(dir, split);
  const int64_t count = static_cast<int64_t>(files.size()) * kCifarRecordsPerFile;
  DatasetInfo info{.name = fmt::format("cifar10 {}", Name(split)),
                   .classes = ReadClassNames(dir + "/batches.meta.txt", kForm.classes),
                   .image = {},
                   .normalization = {{0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}}};
  Tensor images({count, kCifarSide, kCifarSide, 3}, DType::kU8), labels({count}, DType::kI64);
  int64_t first = 0;
  for (const std::string& file : files) {
    ReadCifarFile(file, kCifarRecordsPerFile, first, images, labels);
    first += kCifarRecordsPerFile;
  }
  return std::make_unique<ImageSet>(std::move(info), std::move(images), std::move(labels));
}

}  // namespace torus::data
