// Image folders of TORUS_DATA: the Food-101 sample, and the awkward PNG files as classes.

#include <gtest/gtest.h>

#include <algorithm>

#include "data/datasets/image_folder.h"
#include "data/loading/image_batch.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

class RealFolders : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("TORUS_DATA");
    if (data == nullptr || *data == '\0') GTEST_SKIP() << "TORUS_DATA is not set";
    folder_ = data;
  }
  std::string folder_;
};

TEST_F(RealFolders, Food101SampleAsAnImageFolder) {
  const std::string dir = folder_ + "/food101_64/sample";
  const auto train = OpenImageFolder(dir, Split::kTrain), val = OpenImageFolder(dir, Split::kTest);
  EXPECT_EQ(train->size(), 800);
  EXPECT_EQ(val->size(), 200);
  EXPECT_TRUE(train->left_out().empty() && val->left_out().empty());
  EXPECT_EQ(train->info().classes.size(), 10u);
  EXPECT_EQ(train->info().classes[0], "apple_pie");
  EXPECT_EQ(val->Get(199).target.Item(), 9);
  const Batch batch = ImageBatches(
      *val, {.height = 32, .width = 32})({.epoch = 0, .indices = {0, 100}, .samples = {0, 1}});
  EXPECT_EQ(batch.inputs[0].shape(), (Shape{2, 32, 32, 3}));
}

// The published layout, of links to the sample's files.
TEST_F(RealFolders, Food101Layout) {
  const std::string dir = TestFolder(), sample = folder_ + "/food101_64/sample/val";
  fs::create_directories(dir + "/meta");
  fs::create_directories(dir + "/images");
  std::vector<std::string> classes, lines;
  for (const auto& entry : fs::directory_iterator(sample)) {
    classes.push_back(entry.path().filename().string());
    fs::create_directory_symlink(entry.path(), dir + "/images/" + classes.back());
    for (const auto& file : fs::directory_iterator(entry.path()))
      lines.push_back(fmt::format("{}/{}", classes.back(), file.path().stem().string()));
  }
  std::ranges::sort(classes);
  std::ranges::sort(lines);
  WriteText(dir, "meta/classes.txt", fmt::format("{}\n", fmt::join(classes, "\n")));
  WriteText(dir, "meta/test.txt", fmt::format("{}\n", fmt::join(lines, "\n")));
  const auto set = OpenFood101(dir, Split::kTest);
  EXPECT_EQ(set->size(), 200);
  EXPECT_TRUE(set->left_out().empty());
  for (const int64_t i : {0, 20, 199}) {
    EXPECT_EQ(set->Get(i).target.Item(), static_cast<double>(i / 20));
    EXPECT_EQ(set->Get(i).inputs[0].dim(2), 3);
  }
}

// The PNG suite as one class: the 14 damaged files are named when they are asked for, and every
// example has pixels.
TEST_F(RealFolders, PngSuite) {
  const std::string dir = TestFolder();
  fs::create_directories(dir + "/train");
  fs::create_directory_symlink(folder_ + "/images/stb/tests/pngsuite", dir + "/train/png");
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_LT(set->left_out().size(), 14u);
  for (int64_t i = 0; i < set->size(); ++i) ASSERT_EQ(set->Get(i).inputs[0].dim(-1), 3);
  EXPECT_EQ(set->left_out().size(), 14u);
  int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir + "/train/png/"))
    files += entry.path().extension() == ".png";
  EXPECT_EQ(set->size(), files);
}

}  // namespace
}  // namespace torus::data
