// Fashion-MNIST from Debian's package and CIFAR-10 from TORUS_DATA: what their headers say of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/datasets/fashion_mnist.h"
#include "data/datasets/idx.h"
#include "data/datasets/open_dataset.h"

namespace torus::data {
namespace {

std::string CifarFolder() {
  const char* const data = std::getenv("TORUS_DATA");
  return data == nullptr || *data == '\0' ? ""
                                          : std::string(data) + "/cifar10/cifar-10-batches-bin";
}

// Mean and standard deviation of channel `channel` of `channels`, of pixels scaled to [0, 1].
void ExpectMoments(const uint8_t* pixels, int64_t count, int64_t channels, int64_t channel,
                   const Normalization& want) {
  int64_t sum = 0, squares = 0;  // exact
  for (int64_t i = channel; i < count; i += channels) {
    sum += pixels[i];
    squares += int64_t{pixels[i]} * pixels[i];
  }
  const double n = static_cast<double>(count / channels);
  const double mean = static_cast<double>(sum) / n;
  const double variance = static_cast<double>(squares) / n - mean * mean;
  // The constants have four digits.
  EXPECT_NEAR(mean / 255, want.mean[channel], 0.5e-4 + 1e-7);
  EXPECT_NEAR(std::sqrt(variance) / 255, want.std[channel], 0.5e-4 + 1e-7);
}

void ExpectEqualClasses(const Dataset& set) {
  std::vector<int64_t> counts(set.info().classes.size());
  for (int64_t i = 0; i < set.size(); ++i) ++counts.at(*set.Get(i).target.data<int64_t>());
  for (const int64_t count : counts) EXPECT_EQ(count, set.size() / 10);
}

TEST(RealFashionMnist, IsWhatItsPaperSays) {
  if (!std::filesystem::exists(kFashionMnistDir))
    GTEST_SKIP() << kFashionMnistDir << " is not there";
  const auto train = OpenDataset("fashion-mnist", "", Split::kTrain);
  const auto test = OpenDataset("fashion-mnist", "", Split::kTest);
  EXPECT_EQ(train->size(), 60000);
  EXPECT_EQ(test->size(), 10000);
  ExpectEqualClasses(*train);
  ExpectEqualClasses(*test);
  const Tensor images = ReadIdx(fmt::format("{}/train-images-idx3-ubyte.gz", kFashionMnistDir), 3);
  ExpectMoments(images.data<uint8_t>(), images.numel(), 1, 0, train->info().normalization);
}

TEST(RealCifar10, IsWhatItsPaperSays) {
  if (CifarFolder().empty()) GTEST_SKIP() << "TORUS_DATA is not set";
  const auto train = OpenDataset("cifar10", CifarFolder(), Split::kTrain);
  const auto test = OpenDataset("cifar10", CifarFolder(), Split::kTest);
  EXPECT_EQ(train->size(), 50000);
  EXPECT_EQ(test->size(), 10000);
  EXPECT_EQ(train->info().classes[3], "cat");
  ExpectEqualClasses(*train);
  ExpectEqualClasses(*test);
  // Examples lie one behind the other in memory.
  const uint8_t* const pixels = train->Get(0).inputs[0].data<uint8_t>();
  const int64_t count = train->size() * Numel(train->info().image);
  ASSERT_EQ(train->Get(49999).inputs[0].data<uint8_t>(), pixels + count - 3072);
  for (int64_t c = 0; c < 3; ++c) ExpectMoments(pixels, count, 3, c, train->info().normalization);
}

}  // namespace
}  // namespace torus::data
