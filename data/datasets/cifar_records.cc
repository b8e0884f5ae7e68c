#include "data/datasets/cifar_records.h"

#include <utility>

#include "data/files/file.h"

namespace torus::data {
namespace {

constexpr int64_t kPixels = kCifarSide * kCifarSide, kChannels = 3;

// Planes to interleaved pixels.
void Interleave(const uint8_t* planes, uint8_t* pixels) {
  for (int64_t i = 0; i < kPixels; ++i) {
    for (int64_t c = 0; c < kChannels; ++c) pixels[i * kChannels + c] = planes[c * kPixels + i];
  }
}

}  // namespace

void ReadCifarRecords(const std::string& path, const CifarForm& form, int64_t records,
                      int64_t first, Tensor& images, Tensor& labels) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  const int64_t size = form.labels + kChannels * kPixels;
  Require(static_cast<int64_t>(bytes.size()) == records * size, path,
          "requires {} records of {} bytes, {} in all, got {} bytes", records, size, records * size,
          bytes.size());
  uint8_t* const pixels = images.mutable_data<uint8_t>() + first * kChannels * kPixels;
  int64_t* const out = labels.mutable_data<int64_t>() + first;
  for (int64_t i = 0; i < records; ++i) {
    const uint8_t* const record = bytes.data() + i * size;
    out[i] = record[form.label];
    Require(out[i] < form.classes, path, "requires labels of 0 to {}, got {} in record {}",
            form.classes - 1, out[i], i);
    Interleave(record + form.labels, pixels + i * kChannels * kPixels);
  }
}

std::vector<std::string> ReadClassNames(const std::string& path, int64_t classes) {
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
  Require(static_cast<int64_t>(names.size()) == classes, path,
          "requires {} class names, one a line, got {}", classes, names.size());
  return names;
}

}  // namespace torus::data
