#include "data/loading/image_batch.h"

#include <gtest/gtest.h>

#include "data/datasets/image_set.h"
#include "data/images/augment.h"
#include "data/loading/loader.h"
#include "runtime/stream.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

constexpr int64_t kCount = 40, kSide = 16;

ImageSet TestSet() {
  Tensor images({kCount, kSide, kSide, 3}, DType::kU8), labels({kCount}, DType::kI64);
  for (int64_t i = 0; i < images.numel(); ++i) images.mutable_data<uint8_t>()[i] = i * i % 251;
  for (int64_t i = 0; i < kCount; ++i) labels.mutable_data<int64_t>()[i] = i % 4;
  return ImageSet({.name = "toy",
                   .classes = {"a", "b", "c", "d"},
                   .image = {},
                   .normalization = {{0.5f, 0.4f, 0.3f}, {0.5f, 0.25f, 0.2f}}},
                  images, labels);
}

TEST(ImageBatches, StacksNormalisedImagesAndLabels) {
  const ImageSet set = TestSet();
  const Batch batch = ImageBatches(set, {})({.epoch = 0, .indices = {7, 2}, .samples = {4, 5}});
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{2, kSide, kSide, 3}));
  EXPECT_EQ(ToVector<int64_t>(batch.target), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(batch.samples, (std::vector<int64_t>{4, 5}));
  const Normalizer normalizer(set.info().normalization);
  EXPECT_EQ(ToVector<float>(batch.inputs[0].Select(0, 1)),
            ToVector<float>(normalizer.Apply(set.Get(2).inputs[0])));
}

TEST(ImageBatches, AugmentsByEpochAndExample) {
  const ImageSet set = TestSet();
  const MakeBatch make = ImageBatches(set, {.augment = "crop-flip", .seed = 5});
  const Batch batch = make({.epoch = 3, .indices = {9}, .samples = {0}});
  const Tensor image =
      MakeAugment("crop-flip", kSide, kSide)(set.Get(9).inputs[0], AugmentStream(5, 3, 9));
  EXPECT_EQ(ToVector<float>(batch.inputs[0].Select(0, 0)),
            ToVector<float>(Normalizer(set.info().normalization).Apply(image)));
}

TEST(ImageBatches, GivesTheModelsSize) {
  const ImageSet set = TestSet();
  const MakeBatch make = ImageBatches(set, {.height = 8, .width = 12});
  EXPECT_EQ(make({.indices = {1}, .samples = {0}}).inputs[0].shape(), (Shape{1, 8, 12, 3}));
}

// On a CPU, and on a GPU where there is one (also --config=emulated_gpu).
TEST(ImageBatches, GiveTheSameBitsWhereTheyAreNormalisedOnTheDevice) {
  const ImageSet set = TestSet();
  const MicroBatch part{.epoch = 1, .indices = {7, 2, 39}, .samples = {0, 1, 2}};
  const Batch want = ImageBatches(set, {.augment = "crop-flip"})(part);
  std::vector<Device> devices{{}};
  if (GpuCount() > 0) devices.push_back({DeviceKind::kCuda, GpuCount() - 1});
  for (const Device device : devices) {
    const Batch made =
        ImageBatches(set, {.augment = "crop-flip", .normalizes_on_device = true})(part);
    EXPECT_EQ(made.inputs[0].dtype(), DType::kU8);
    std::vector<Tensor> inputs{made.inputs[0].To(device)};
    made.prepare(inputs);
    EXPECT_EQ(inputs[0].device(), device);
    EXPECT_EQ(ToVector<float>(inputs[0].To(Device{})), ToVector<float>(want.inputs[0]));
    EXPECT_EQ(ToVector<int64_t>(made.target), ToVector<int64_t>(want.target));
    EXPECT_FALSE(want.prepare);
  }
}

TEST(ImageBatches, MakesEmptyBatches) {
  const ImageSet set = TestSet();
  const Batch batch = ImageBatches(set, {})({});
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{0, kSide, kSide, 3}));
  EXPECT_EQ(batch.target.shape(), (Shape{0}));
}

// The global mini-batch's bits, whatever the workers and however it is cut.
TEST(ImageBatches, GiveTheSameBitsForAnyLayout) {
  const ImageSet set = TestSet();
  const auto epoch = [&](int replicas, int micro_batches, int workers) {
    std::vector<float> pixels;
    Loader loader(Sampler({.size = kCount, .batch_size = 12, .seed = 1}),
                  ImageBatches(set, {.augment = "resized-crop-flip", .seed = 1}),
                  {.replicas = replicas, .micro_batches = micro_batches, .workers = workers});
    for (int64_t step = 0; step < 8; ++step) {
      for (int part = 0; part < replicas * micro_batches; ++part) {
        const auto batch = loader.Fetch(step, part / micro_batches, part % micro_batches);
        const std::vector<float> more = ToVector<float>(batch->inputs[0]);
        pixels.insert(pixels.end(), more.begin(), more.end());
      }
    }
    return pixels;
  };
  const std::vector<float> plain = epoch(1, 1, 1);
  EXPECT_EQ(plain.size(), static_cast<size_t>(2 * kCount * kSide * kSide * 3));
  EXPECT_EQ(epoch(1, 4, 3), plain);
  EXPECT_EQ(epoch(3, 2, 2), plain);
  EXPECT_EQ(epoch(8, 1, 4), plain);
}

TEST(ImageBatches, RefuseABadExampleByName) {
  const ImageSet set = TestSet();
  ExpectBadInput([&] { ImageBatches(set, {})({.indices = {kCount}, .samples = {0}}); }, "[toy]",
                 "got 40");
  ExpectBadInput([&] { ImageBatches(set, {.augment = "x"}); }, "[augment]", "got 'x'");
}

TEST(ImageSet, RefusesWhatDoesNotFitTogether) {
  const DatasetInfo info{.name = "toy", .classes = {"a"}, .image = {}, .normalization = {}};
  const Tensor images = Zeros({2, 4, 4, 3}, DType::kU8);
  ExpectBadInput([&] { ImageSet(info, images, Zeros({3}, DType::kI64)); }, "[toy]",
                 "3 labels and 2 images");
  ExpectBadInput([&] { ImageSet(info, images, Full({2}, 1, DType::kI64)); }, "[toy]",
                 "0 to 0, got 1 at example 0");
  ExpectBadInput(
      [&] {
        ImageSet(info, Zeros({2, 4, 4}, DType::kU8), Zeros({2}, DType::kI64));
      },
      "[toy]", "(N, H, W, C)");
}

}  // namespace
}  // namespace torus::data
