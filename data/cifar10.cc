#include "data/cifar10.h"

#include <utility>

#include "data/file.h"

namespace torus::data {
namespace {

constexpr int64_t kSide = 32, kPixels = kSide * kSide, kChannels = 3, kClasses = 10;
constexpr int64_t kRecord = 1 + kChannels * kPixels;

std::vector<std::string> Files(const std::string& dir, Split split) {
  if (split == Split::kTest) return {dir + "/test_batch.bin"};
  std::vector<std::string> files;
  for (int i = 1; i <= 5; ++i) files.push_back(fmt::format("{}/data_batch_{}.bin", dir, i));
  return files;
}

// One name a line; empty lines at the end are the official file's own.
std::vector<std::string> ReadClassNames(const std::string& path) {
  std::vector<std::string> names;
  std::string name;
  for (const uint8_t byte : ReadFile(path)) {
    if (byte == '\n') {
      if (!name.empty()) names.push_back(std::exchange(name, {}));
    } else if (byte != '\r') {
      name.push_back(static_cast<char>(byte));
    }
  }
  if (!name.empty()) names.push_back(name);
  Require(names.size() == kClasses, path, "requires 10 class names, one a line, got {}",
          names.size());
  return names;
}

// Planes to interleaved pixels.
void Interleave(const uint8_t* planes, uint8_t* pixels) {
  for (int64_t i = 0; i < kPixels; ++i) {
    for (int64_t c = 0; c < kChannels; ++c) pixels[i * kChannels + c] = planes[c * kPixels + i];
  }
}

}  // namespace

void ReadCifarFile(const std::string& path, int64_t records, int64_t first, Tensor& images,
                   Tensor& labels) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  Require(static_cast<int64_t>(bytes.size()) == records * kRecord, path,
          "requires {} records of {} bytes, {} in all, got {} bytes", records, kRecord,
          records * kRecord, bytes.size());
  uint8_t* const pixels = images.mutable_data<uint8_t>() + first * kChannels * kPixels;
  int64_t* const out = labels.mutable_data<int64_t>() + first;
  for (int64_t i = 0; i < records; ++i) {
    const uint8_t* const record = bytes.data() + i * kRecord;
    Require(*record < kClasses, path, "requires labels of 0 to 9, got {} in record {}", *record, i);
    out[i] = *record;
    Interleave(record + 1, pixels + i * kChannels * kPixels);
  }
}

std::unique_ptr<ImageSet> OpenCifar10(const std::string& dir, Split split) {
  const std::vector<std::string> files = Files(dir, split);
  const int64_t count = static_cast<int64_t>(files.size()) * kCifarRecordsPerFile;
  DatasetInfo info{.name = fmt::format("cifar10 {}", Name(split)),
                   .classes = ReadClassNames(dir + "/batches.meta.txt"),
                   .image = {},
                   .normalization = {{0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}}};
  Tensor images({count, kSide, kSide, kChannels}, DType::kU8), labels({count}, DType::kI64);
  int64_t first = 0;
  for (const std::string& file : files) {
    ReadCifarFile(file, kCifarRecordsPerFile, first, images, labels);
    first += kCifarRecordsPerFile;
  }
  return std::make_unique<ImageSet>(std::move(info), std::move(images), std::move(labels));
}

}  // namespace torus::data
