#include "data/datasets/image_folder.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

// One pixel of one value; with `size` the header claims size x 1.
Bytes Pixel(uint8_t value, int size = 1) {
  const std::string header = fmt::format("P5 {} 1 255\n", size);
  Bytes bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), size, value);
  return bytes;
}

void Put(const std::string& folder, const std::string& path, const Bytes& bytes) {
  fs::create_directories(fs::path(folder + "/" + path).parent_path());
  WriteFile(folder, path, bytes);
}

int FirstByte(const Dataset& set, int64_t index) {
  return *set.Get(index).inputs[0].data<uint8_t>();
}

TEST(ImageFolder, ClassesAreFoldersInOrder) {
  const std::string dir = TestFolder();
  Put(dir, "train/dog/b.pgm", Pixel(3));
  Put(dir, "train/dog/a/z.PGM", Pixel(2));
  Put(dir, "train/Cat/1.pgm", Pixel(1));
  Put(dir, "train/dog/notes.txt", {1});
  Put(dir, "train/readme", {1});
  Put(dir, "val/dog/q.pgm", Pixel(9));
  const auto train = OpenImageFolder(dir, Split::kTrain);
  EXPECT_EQ(train->info().classes, (std::vector<std::string>{"Cat", "dog"}));
  EXPECT_EQ(train->info().image, (Shape{1, 1, 3}));
  ASSERT_EQ(train->size(), 3);
  for (const int i : {0, 1, 2}) {
    EXPECT_EQ(FirstByte(*train, i), i + 1);
    EXPECT_EQ(train->Get(i).target.Item(), i == 0 ? 0 : 1);
  }
  EXPECT_TRUE(train->left_out().empty());
  // `val` has one class of the two, under the number that it has in `train`.
  const auto val = OpenImageFolder(dir, Split::kTest);
  EXPECT_EQ(val->size(), 1);
  EXPECT_EQ(val->Get(0).target.Item(), 1);
  ExpectBadInput([&] { val->Get(1); }, dir + "/val", "0 to 0, got 1");
}

// Opening looks at one good file of each class.
TEST(ImageFolder, OpeningDoesNotReadEveryFile) {
  const std::string dir = TestFolder();
  Put(dir, "train/a/0.pgm", {});
  Put(dir, "train/a/1.pgm", Pixel(1, 2));
  for (const char* name : {"train/a/2.pgm", "train/a/3.pgm", "train/b/1.pgm"}) Put(dir, name, {});
  Put(dir, "train/b/0.pgm", Pixel(4, 2));
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_EQ(set->size(), 6);
  EXPECT_EQ(set->info().image, (Shape{1, 2, 3}));
  ASSERT_EQ(set->left_out().size(), 1u);
  EXPECT_EQ(set->left_out()[0].where, dir + "/train/a/0.pgm");
  Put(dir, "train/b/0.pgm", Pixel(4, 3));
  EXPECT_EQ(OpenImageFolder(dir, Split::kTrain)->info().image, Shape{}) << "two sizes";
}

TEST(ImageFolder, DamagedFilesAreNamedAndTheNextOfTheirClassStandsForThem) {
  const std::string dir = TestFolder();
  Bytes cut = Pixel(2, 4);
  cut.pop_back();
  for (const int i : {0, 1}) Put(dir, fmt::format("train/a/{}.pgm", i), Pixel(10 + i));
  Put(dir, "train/a/2.pgm", cut);
  Put(dir, "train/b/0.pgm", Pixel(20));
  const auto set = OpenImageFolder(dir, Split::kTrain);
  for (const int epoch : {0, 1}) {
    EXPECT_EQ(FirstByte(*set, 2), 10) << "the next of class a, past b; epoch " << epoch;
    EXPECT_EQ(set->Get(2).target.Item(), 0);
    ASSERT_EQ(set->left_out().size(), 1u) << "named once";
  }
  EXPECT_EQ(set->left_out()[0].where, dir + "/train/a/2.pgm");
  EXPECT_EQ(set->left_out()[0].reason.find("requires a whole image"), 0u) << "without the path";
  Put(dir, "train/b/0.pgm", {});
  ExpectBadInput([&] { set->Get(3); }, dir, "an image of class b that can be decoded");
}

TEST(ImageFolder, NamesWhatIsMissing) {
  const std::string dir = TestFolder();
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTrain); }, dir + "/train", "cannot be listed");
  fs::create_directories(dir + "/train");
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTrain); }, dir + "/train",
                 "a folder for each class, got none");
  fs::create_directories(dir + "/train/a");
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTrain); }, dir + "/train",
                 "at least one image, got 0 bad files");
  Put(dir, "train/a/x.png", {1});
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTrain); }, dir + "/train",
                 "got 1 bad files, the first one " + dir + "/train/a/x.png: requires");
  Put(dir, "train/a/y.pgm", Pixel(1));
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTest); }, dir + "/val", "cannot be listed");
  Put(dir, "test/c/y.pgm", Pixel(1));
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTest); }, dir + "/test",
                 "the classes of train, got c");
}

class Food101 : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = TestFolder();
    for (const char* folder : {"/meta", "/images/sushi", "/images/pie"})
      fs::create_directories(dir_ + folder);
    WriteText(dir_, "meta/classes.txt", "pie\nsushi\n");
    WriteText(dir_, "meta/train.txt", "sushi/11\npie/7\nsushi/12\n");
    // The ending says JPEG; the bytes decide.
    Put(dir_, "images/sushi/11.jpg", Pixel(11));
    Put(dir_, "images/pie/7.jpg", Pixel(7));
  }
  std::string dir_;
};

TEST_F(Food101, FollowsItsLists) {
  const auto set = OpenFood101(dir_, Split::kTrain);
  EXPECT_EQ(set->info().name, "food101 train");
  ASSERT_EQ(set->size(), 3);
  EXPECT_EQ(set->Get(0).target.Item(), 1);
  EXPECT_EQ(FirstByte(*set, 1), 7);
  EXPECT_EQ(FirstByte(*set, 2), 11);
  ASSERT_EQ(set->left_out().size(), 1u) << "a file that is missing";
  EXPECT_EQ(set->left_out()[0].where, dir_ + "/images/sushi/12.jpg");
}

TEST_F(Food101, RefusesLinesOfAnotherForm) {
  const std::string longer = fmt::format("pie/{:7<252}", "");  // with .jpg, than any name
  for (const std::string line :
       {"pizza/1", "pie", "pie/", "", "pie/../7", "/pie/7", longer.c_str()}) {
    WriteText(dir_, "meta/train.txt", fmt::format("pie/7\n{}\n", line));
    ExpectBadInput([&] { OpenFood101(dir_, Split::kTrain); }, dir_ + "/meta/train.txt",
                   "line 2: requires CLASS/NAME with one of 2 classes");
  }
  WriteText(dir_, "meta/classes.txt", "pie\npie\n");
  ExpectBadInput([&] { OpenFood101(dir_, Split::kTrain); }, dir_ + "/meta/classes.txt",
                 "got pie twice");
  ExpectBadInput([&] { OpenFood101(dir_ + "x", Split::kTrain); }, "meta/classes.txt",
                 "No such file");
}

}  // namespace
}  // namespace torus::data
