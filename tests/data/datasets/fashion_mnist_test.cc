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
  ExpectBadInput([&] { OpenFashionMnist(dir, Split::kTest); }, dir,
                 "requires the labels of " + dir + "/" + kImages);
  ExpectBadInput([&] { OpenFashionMnist(dir, Split::kTrain); }, dir,
                 "no Fashion-MNIST here: looked for train-images-idx3-ubyte, plain or .gz, also in "
                 "FashionMNIST/raw and raw, and for fashion-mnist_train.csv; got t10k-images");
}

// torchvision unpacks into FashionMNIST/raw and keeps the .gz beside; other programs make a folder
// of each file.
TEST(FashionMnist, ReadsWhatOtherProgramsUnpack) {
  const std::string dir = TestFolder();
  std::filesystem::create_directories(dir + "/a/FashionMNIST/raw");
  WriteFile(dir, "a/FashionMNIST/raw/t10k-images-idx3-ubyte", Images(1));
  WriteFile(dir, "a/FashionMNIST/raw/t10k-labels-idx1-ubyte", Labels({4}));
  WriteFile(dir, std::string("a/FashionMNIST/raw/") + kImages, {1});
  for (const char* place : {"/a", "/a/FashionMNIST", "/a/FashionMNIST/raw"})
    EXPECT_EQ(OpenFashionMnist(dir + place, Split::kTest)->Get(0).target.Item(), 4) << place;
  for (const char* name : {"b/t10k-images-idx3-ubyte", "b/t10k-labels-idx1-ubyte"})
    std::filesystem::create_directories(dir + "/" + name);
  WriteFile(dir, "b/t10k-images-idx3-ubyte/t10k-images-idx3-ubyte", Images(1));
  WriteFile(dir, "b/t10k-labels-idx1-ubyte/t10k-labels-idx1-ubyte", Labels({5}));
  EXPECT_EQ(OpenFashionMnist(dir + "/b", Split::kTest)->Get(0).target.Item(), 5);
}

// The lines of Kaggle's file for images and labels.
std::string Csv(const Bytes& images, const Bytes& labels, const char* end) {
  std::string text = "label";
  for (int p = 1; p <= 784; ++p) text += fmt::format(",pixel{}", p);
  for (size_t i = 0; i < labels.size(); ++i) {
    text += fmt::format("{}{}", end, labels[i]);
    for (int p = 0; p < 784; ++p) text += fmt::format(",{}", images[16 + 784 * i + p]);
  }
  return text;
}

TEST(FashionMnist, ReadsKagglesCsv) {
  const auto want = OpenFashionMnist(Folder(Images(2), Labels({3, 9})), Split::kTest);
  for (const char* end : {"\n", "\r\n"}) {
    const std::string dir = TestFolder();
    WriteText(dir, "fashion-mnist_test.csv", Csv(Images(2), {3, 9}, end));
    const auto set = OpenFashionMnist(dir, Split::kTest);
    ASSERT_EQ(set->size(), 2);
    for (const int i : {0, 1}) {
      EXPECT_EQ(set->Get(i).target.Item(), want->Get(i).target.Item());
      EXPECT_EQ(ToVector<uint8_t>(set->Get(i).inputs[0]),
                ToVector<uint8_t>(want->Get(i).inputs[0]));
    }
  }
}

TEST(FashionMnist, RefusesAnotherCsv) {
  const std::string good = Csv(Images(1), {3}, "\n");
  const auto refused = [](const std::string& text, const char* says) {
    const std::string dir = TestFolder();
    WriteText(dir, "fashion-mnist_test.csv", text);
    ExpectBadInput([&] { OpenFashionMnist(dir, Split::kTest); }, dir + "/fashion-mnist_test.csv",
                   says);
  };
  refused("", "a first line of column names");
  refused("3,0,0\n", "a first line of column names");
  refused(good + ",1", "line 2: requires 785 numbers from 0 to 255");
  refused(good.substr(0, good.size() - 8), "line 2: requires 785 numbers");
  refused("label\n" + std::string("256") + good.substr(good.find('\n') + 2), "line 2: requires");
  refused(Csv(Images(1), {10}, "\n"), "0 to 9, got 10 at example 0");
}

TEST(FashionMnist, RefusesAnExampleThatIsNot) {
  const auto set = OpenFashionMnist(Folder(Images(2), Labels({3, 9})), Split::kTest);
  ExpectBadInput([&] { set->Get(2); }, "fashion-mnist test", "0 to 1, got 2");
  ExpectBadInput([&] { set->Get(-1); }, "fashion-mnist test", "got -1");
}

}  // namespace
}  // namespace torus::data
