#include "data/loading/image_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/datasets/image_set.h"
#include "data/images/augment.h"
#include "data/images/random_erasing.h"
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

// Examples in their order.
struct Epochs {
  std::vector<float> inputs, targets;
  bool operator==(const Epochs&) const = default;
};

void Append(std::vector<float>& values, const Tensor& tensor) {
  const std::vector<float> more = ToVector<float>(tensor.To(DType::kF32));
  values.insert(values.end(), more.begin(), more.end());
}

// Two epochs by a loader of this layout.
Epochs TwoEpochs(const ImageBatchOptions& options, int replicas, int micro_batches, int workers) {
  const ImageSet set = TestSet();
  Epochs epochs;
  Loader loader(Sampler({.size = kCount, .batch_size = 12, .seed = 1}), ImageBatches(set, options),
                {.replicas = replicas, .micro_batches = micro_batches, .workers = workers});
  for (int64_t step = 0; step < 8; ++step)
    for (int part = 0; part < replicas * micro_batches; ++part) {
      const auto batch = loader.Fetch(step, part / micro_batches, part % micro_batches);
      Append(epochs.inputs, batch->inputs[0]);
      Append(epochs.targets, batch->target);
    }
  return epochs;
}

// The global mini-batch's bits in its order, whatever the workers and however it is cut.
TEST(ImageBatches, GiveTheSameBitsForAnyLayout) {
  ImageBatchOptions options{.augment = "resized-crop-flip", .seed = 1};
  const size_t pixels = 2 * kCount * kSide * kSide * 3;
  EXPECT_EQ(TwoEpochs(options, 1, 1, 1).inputs.size(), pixels);
  EXPECT_EQ(TwoEpochs(options, 1, 1, 1).targets.size(), 2 * kCount);
  for (const MixOptions mix : {MixOptions{}, MixOptions{.mixup = 0.4, .cutmix = 1}}) {
    options.mix = mix;
    options.erasing = mix.any() ? 0.5 : 0;
    const Epochs plain = TwoEpochs(options, 1, 1, 1);
    EXPECT_TRUE(TwoEpochs(options, 1, 4, 3) == plain);
    EXPECT_TRUE(TwoEpochs(options, 3, 2, 2) == plain);
    EXPECT_TRUE(TwoEpochs(options, 8, 1, 4) == plain);
    ImageBatchOptions other = options;
    other.seed = 2;
    EXPECT_FALSE(TwoEpochs(other, 1, 1, 1).inputs == plain.inputs);
  }
}

// Rows 7, 2 and 30 with the next ones, 2, 30 and 11, of classes 3 2 2 3.
TEST(ImageBatches, MixWithTheNextImageAndItsClass) {
  const ImageSet set = TestSet();
  const MicroBatch part{.epoch = 4, .indices = {7, 2, 30}, .samples = {0, 1, 2}, .next = 11};
  const int64_t next[] = {2, 30, 11}, values = kSide * kSide * 3;
  const Normalizer normalizer(set.info().normalization);
  const auto image = [&](int64_t i) {
    return ToVector<float>(normalizer.Apply(set.Get(i).inputs[0]));
  };
  for (const MixOptions mix : {MixOptions{.mixup = 0.5}, MixOptions{.cutmix = 0.5}}) {
    const Batch batch = ImageBatches(set, {.seed = 9, .mix = mix})(part);
    ASSERT_EQ(batch.target.shape(), (Shape{3, 4}));
    for (int64_t row = 0; row < 3; ++row) {
      const int64_t index = part.indices[row];
      const Mixture mixture = DrawMixture(mix, kSide, kSide, 9, 4, index);
      EXPECT_EQ(mixture.blends, mix.mixup > 0);
      const auto share = static_cast<float>(mixture.share);
      std::vector<float> target(4);
      target[index % 4] += share;
      target[next[row] % 4] += 1 - share;
      EXPECT_EQ(ToVector<float>(batch.target.Select(0, row)), target);
      const std::vector<float> got = ToVector<float>(batch.inputs[0].Select(0, row)),
                               own = image(index), other = image(next[row]);
      const Window w = mixture.window;
      for (int64_t i = 0; i < values; ++i) {
        const int64_t y = i / (kSide * 3), x = i / 3 % kSide;
        const bool inside =
            y >= w.top && y < w.top + w.height && x >= w.left && x < w.left + w.width;
        const float want = mixture.blends ? share * own[i] + (1 - share) * other[i]
                           : inside       ? other[i]
                                          : own[i];
        // Products and a sum of three roundings of numbers below 5; one may be fused.
        ASSERT_NEAR(got[i], want, 2e-6) << row << " " << i;
      }
    }
  }
}

TEST(ImageBatches, EraseWindowsToTheMean) {
  const ImageSet set = TestSet();
  const MicroBatch part{
      .epoch = 1, .indices = {0, 1, 2, 3, 4, 5, 6, 7}, .samples = {0, 1, 2, 3, 4, 5, 6, 7}};
  const Batch plain = ImageBatches(set, {})(part);
  const Batch batch =
      ImageBatches(set, {.seed = 5, .normalizes_on_device = true, .erasing = 0.5})(part);
  EXPECT_FALSE(batch.prepare) << "0 is no byte's value";
  int64_t erased = 0;
  for (int64_t row = 0; row < 8; ++row) {
    const auto window = RandomErasing(0.5, kSide, kSide, ErasingStream(5, 1, row));
    const std::vector<float> got = ToVector<float>(batch.inputs[0].Select(0, row)),
                             own = ToVector<float>(plain.inputs[0].Select(0, row));
    erased += window.has_value();
    for (int64_t i = 0; i < std::ssize(got); ++i) {
      const int64_t y = i / (kSide * 3), x = i / 3 % kSide;
      const bool inside = window && y >= window->top && y < window->top + window->height &&
                          x >= window->left && x < window->left + window->width;
      ASSERT_EQ(got[i], inside ? 0 : own[i]) << row << " " << i;
    }
  }
  EXPECT_GT(erased, 0);
  EXPECT_LT(erased, 8);
}

TEST(RandomErasing, WindowsHaveTorchvisionsSizesAndRatios) {
  int drawn = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const auto window = RandomErasing(0.25, 100, 80, ErasingStream(1, 0, i));
    if (!window) continue;
    ++drawn;
    const auto h = static_cast<double>(window->height), w = static_cast<double>(window->width);
    // Each side is rounded by at most a half.
    EXPECT_GE((h + 0.5) * (w + 0.5), 0.02 * 8000);
    EXPECT_LE((h - 0.5) * (w - 0.5), 0.33 * 8000);
    EXPECT_GE((h + 0.5) / (w - 0.5), 0.3);
    EXPECT_LE((h - 0.5) / (w + 0.5), 3.3);
    EXPECT_LE(window->top + window->height, 100);
    EXPECT_LE(window->left + window->width, 80);
  }
  // 250 of 1000 with a standard deviation of 13.7; ten draws nearly always fit.
  EXPECT_NEAR(drawn, 250, 69);
  const auto least = RandomErasing(1, 1, 1, ErasingStream(1, 0, 0));
  EXPECT_TRUE(!least || least->height * least->width == 0) << "a window is smaller";
}

// CutMix's windows are of bytes, so they may be normalised on the device, and mixup's values may
// not.
TEST(ImageBatches, MixInTheSameBitsForADevice) {
  const ImageSet set = TestSet();
  const MicroBatch part{.indices = {7, 2, 30}, .samples = {0, 1, 2}, .next = 11};
  for (const MixOptions mix : {MixOptions{.mixup = 0.5}, MixOptions{.cutmix = 0.5}}) {
    const Batch want = ImageBatches(set, {.mix = mix})(part);
    Batch made = ImageBatches(set, {.normalizes_on_device = true, .mix = mix})(part);
    EXPECT_EQ(made.inputs[0].dtype(), mix.mixup > 0 ? DType::kF32 : DType::kU8);
    if (made.prepare) made.prepare(made.inputs);
    EXPECT_EQ(ToVector<float>(made.inputs[0]), ToVector<float>(want.inputs[0]));
    EXPECT_EQ(ToVector<float>(made.target), ToVector<float>(want.target));
  }
}

// Beta(a, a) has mean 1/2 and variance 1 / (4 (2 a + 1)). Squares of distances from 1/2 lie in [0,
// 1/4], so five standard deviations of a mean of n of them are below 5 / (8 sqrt(n)).
TEST(DrawMixture, SharesAreOfTheBetaDistribution) {
  constexpr int kDraws = 20000;
  const double near = 5.0 / 8 / std::sqrt(kDraws);
  for (const double a : {0.05, 0.2, 1.0, 5.0}) {
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < kDraws; ++i) {
      const double share = DrawBeta(a, {.seed = 3, .sample = i});
      ASSERT_TRUE(share >= 0 && share <= 1) << share;
      sum += share, squares += (share - 0.5) * (share - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.5 / std::sqrt(kDraws)) << a;
    EXPECT_NEAR(squares / kDraws, 1 / (4 * (2 * a + 1)), near) << a;
  }
  EXPECT_EQ(DrawBeta(0.2, {.seed = 3, .sample = 1}), DrawBeta(0.2, {.seed = 3, .sample = 1}));
}

// A window of a share of 1 - s has sides of sqrt(1 - s) of the image's, less what lies outside.
TEST(DrawMixture, WindowsLieWithinTheImageAndGiveTheShare) {
  double least = 1, most = 0;
  int blends = 0;
  for (int64_t i = 0; i < 300; ++i) {
    const Mixture mixture = DrawMixture({.mixup = 1, .cutmix = 1}, 20, 30, 1, 2, i);
    blends += mixture.blends;
    if (mixture.blends) continue;
    const Window& w = mixture.window;
    ASSERT_TRUE(w.top >= 0 && w.left >= 0 && w.top + w.height <= 20 && w.left + w.width <= 30);
    EXPECT_DOUBLE_EQ(mixture.share, 1 - static_cast<double>(w.height * w.width) / 600);
    least = std::min(least, mixture.share), most = std::max(most, mixture.share);
  }
  EXPECT_LT(least, 0.3);
  EXPECT_GT(most, 0.9);
  // Of 300 fair draws, 150 with a standard deviation of 8.7.
  EXPECT_NEAR(blends, 150, 44);
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
