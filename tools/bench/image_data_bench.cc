// Speed of the image data path, in images per second of one worker's thread: a micro-batch of 64
// from memory (CIFAR's size), from JPEG files of about ImageNet's size, and from an image cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/datasets/image_folder.h"
#include "data/datasets/image_set.h"
#include "data/datasets/make_image_cache.h"
#include "data/images/decode.h"
#include "data/loading/image_batch.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBatch = 64, kPhotographs = 32;
constexpr int64_t kCachedSide = 256;  // as --image-cache has it for 224
constexpr double kCacheTimeout = 60;  // seconds

// Waves with noise: at quality 85 about 85 kB, near a photograph of ImageNet.
Tensor Photograph(int64_t height, int64_t width, uint64_t number) {
  const RandomStream random({.seed = number});
  Tensor image({height, width, 3}, DType::kU8);
  uint8_t* to = image.mutable_data<uint8_t>();
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const double wave = 70 * std::sin(0.021 * static_cast<double>(x * (c + 1))) *
                            std::cos(0.017 * static_cast<double>(y + 40 * number));
        const auto noise =
            static_cast<double>(random.Below(static_cast<uint64_t>(y * width + x), 71));
        *to++ = static_cast<uint8_t>(90 + wave + noise);
      }
  return image;
}

// A folder of photographs for the time of the benchmark.
class PhotographFolder {
 public:
  PhotographFolder()
      : path_(fs::temp_directory_path() / fmt::format("torus_bench_photographs_{}", getpid())) {
    fs::create_directories(path_ / "train" / "all");
    for (int64_t i = 0; i < kPhotographs; ++i) {
      const int64_t height = i % 4 == 3 ? 500 : 375, width = 875 - height;
      const Tensor image = Photograph(height, width, static_cast<uint64_t>(i));
      const std::string file = (path_ / "train" / "all" / fmt::format("{}.jpg", i)).string();
      if (stbi_write_jpg(file.c_str(), static_cast<int>(width), static_cast<int>(height), 3,
                         image.data<uint8_t>(), 85) == 0)
        Throw<BrokenEnvironment>(file, "cannot be written");
    }
  }
  ~PhotographFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PhotographFolder(const PhotographFolder&) = delete;
  PhotographFolder& operator=(const PhotographFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  const fs::path path_;
};

std::unique_ptr<Dataset> Cifar() {
  constexpr int64_t kCount = 10000;
  Tensor images({kCount, 32, 32, 3}, DType::kU8);
  for (int64_t i = 0; i < images.numel(); ++i)
    images.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * i % 251);
  return std::make_unique<ImageSet>(
      DatasetInfo{.name = "cifar-size",
                  .classes = {"a"},
                  .image = {},
                  .normalization = {{0.4914f, 0.4822f, 0.4465f}, {0.247f, 0.2435f, 0.2616f}}},
      images, Zeros({kCount}, DType::kI64));
}

void MakeBatches(benchmark::State& state, const Dataset& dataset, ImageBatchOptions options) {
  const MakeBatch make = ImageBatches(dataset, options);
  MicroBatch part{.epoch = 0, .indices = {}, .samples = std::vector<int64_t>(kBatch)};
  int64_t next = 0;
  for (auto _ : state) {
    part.indices.clear();
    for (int64_t i = 0; i < kBatch; ++i) part.indices.push_back(next++ % dataset.size());
    part.epoch = next / dataset.size();
    benchmark::DoNotOptimize(make(part).inputs[0].raw());
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void CifarBatches(benchmark::State& state, bool on_device) {
  const std::unique_ptr<Dataset> images = Cifar();
  MakeBatches(state, *images, {.augment = "crop-flip", .normalizes_on_device = on_device});
}

void PhotographBatches(benchmark::State& state, bool cached, bool on_device) {
  const PhotographFolder folder;
  const auto images = OpenImageFolder(folder.path(), Split::kTrain);
  if (cached)
    images->UseCache(
        OpenOrMakeImageCache(*images, folder.path() + "/cache", kCachedSide, kCacheTimeout).cache);
  MakeBatches(state, *images,
              {.augment = "resized-crop-flip",
               .height = 224,
               .width = 224,
               .normalizes_on_device = on_device});
}

void Decode(benchmark::State& state) {
  const PhotographFolder folder;
  const std::string path = folder.path() + "/train/all/0.jpg";
  for (auto _ : state) benchmark::DoNotOptimize(ReadImage(path).raw());
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes"] = static_cast<double>(fs::file_size(path));
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(("images/" + name).c_str(), function, arguments...)
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime();
  };
  for (const bool on_device : {false, true}) {
    const std::string type = on_device ? "u8" : "f32";
    add("cifar_crop_flip/" + type, CifarBatches, on_device);
    add("jpeg_224/" + type, PhotographBatches, false, on_device);
    add("cached_224/" + type, PhotographBatches, true, on_device);
  }
  add("decode_jpeg", Decode);
  return true;
}();

}  // namespace
}  // namespace torus::data
