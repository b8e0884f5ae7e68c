#include "data/datasets/fashion_mnist.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

constexpr char kImages[] = "t10k-images-idx3-ubyte.gz";
constexpr char kLabels[] = "t10k-labels-idx1-ubyte.gz";

// Pixel p of image i is 100 i + p % 100 + 1: never black.
Bytes Images(uint8_t count, uint8_t side = 28) {
  Bytes bytes = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side};
  for (int i = 0; i < count; ++i) {
    for (int p = 0; p < side * side; ++p)
      bytes.push_back(static_cast<uint8_t>(100 * i + p % 100 + 1));
  }
  return bytes;
}

Bytes Labels(const Bytes& labels) {
  Bytes bytes = {0, 0, 8, 1, 0, 0, 0, static_cast<uint8_t>(labels.size())};
  for (const uint8_t label : labels) bytes.push_back(label);
  return bytes;
}

std::string Folder(const Bytes& images, const Bytes& labels) {
  const std::string dir = TestFolder();
  WriteFile(dir, kImages, Gzip(images));
  WriteFile(dir, kLabels, Gzip(labels));
  return dir;
}

TEST(FashionMnist, PadsToThirtyTwoAndRepeatsTheChannel) {
  const auto set = OpenFashionMnist(Folder(Images(2), Labels({3, 9})), Split::kTest);
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->info().name, "fashion-mnist test");
  EXPECT_EQ(set->info().image, (Shape{32, 32, 3}));
  const Sample sample = set->Get(1);
  EXPECT_EQ(sample.target.Item(), 9);
  const Bytes pixels = ToVector<uint8_t>(sample.inputs[0]);
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      const bool inside = y >= 2 && y < 30 && x >= 2 && x < 30;
      const int want = inside ? 100 + ((y - 2) * 28 + x - 2) % 100 + 1 : 0;
      for (int c = 0; c < 3; ++c) EXPECT_EQ(pixels[(y * 32 + x) * 3 + c], want);
    }
  }
}

TEST(FashionMnist, ReadsUnpackedFilesToo) {
  const std::string dir = TestFolder();
  WriteFile(dir, "t10k-images-idx3-ubyte", Images(1));
  WriteFile(dir, "t10k-labels-idx1-ubyte", Labels({4}));
  EXPECT_EQ(OpenFashionMnist(dir, Split::kTest)->Get(0).target.Item(), 4);
}

TEST(FashionMnist, RefusesWhatDoesNotFitTogether) {
  const auto open = [](const std::string& dir) { OpenFashionMnist(dir, Split::kTest); };
  std::string dir = Folder(Images(2), Labels({3}));
  ExpectBadInput([&] { open(dir); }, dir + "/" + kLabels, "each of the 2 images");
  dir = Folder(Images(2), Labels({3, 10}));
  ExpectBadInput([&] { open(dir); }, dir + "/" + kLabels, "0 to 9, got 10 at example 1");
  dir = Folder(Images(2, 27), Labels({3, 4}));
  ExpectBadInput([&] { open(dir); }, dir + "/" + kImages, "28 x 28, got 27 x 27");
  dir = Folder(Images(0), Labels({}));
  ExpectBadInput([&] { open(dir); }, "fashion-mnist test", "at least one image");
  dir = Folder(Labels({1}), Labels({1}));
  ExpectBadInput([&] { open(dir); }, dir + "/" + kImages, "got ");
}

TEST(FashionMnist, NamesTheFileThatIsMissing) {
  const std::string dir = TestFolder();
  WriteFile(dir, kImages, Images(1));
  ExpectBadInput([&] { OpenFashionMnist(dir, Split::kTest); }, dir + "/" + kLabels, "No such file");
  ExpectBadInput([&] { OpenFashionMnist(dir, Split::kTrain); }, dir + "/train-images-idx3-ubyte.gz",
                 "No such file");
}

TEST(FashionMnist, RefusesAnExampleThatIsNot) {
  const auto set = OpenFashionMnist(Folder(Images(2), Labels({3, 9})), Split::kTest);
  ExpectBadInput([&] { set->Get(2); }, "fashion-mnist test", "0 to 1, got 2");
  ExpectBadInput([&] { set->Get(-1); }, "fashion-mnist test", "got -1");
}

}  // namespace
}  // namespace torus::data
