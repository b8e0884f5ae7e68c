#include "data/datasets/image_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
  Put(dir, "val/dog/q.txt", {1});
  const auto train = OpenImageFolder(dir, Split::kTrain);
  EXPECT_EQ(train->info().classes, (std::vector<std::string>{"Cat", "dog"}));
  EXPECT_EQ(train->info().image, (Shape{1, 1, 3}));
  ASSERT_EQ(train->size(), 3);
  for (const int i : {0, 1, 2}) {
    EXPECT_EQ(FirstByte(*train, i), i + 1);
    EXPECT_EQ(train->Get(i).target.Item(), i == 0 ? 0 : 1);
  }
  EXPECT_TRUE(train->left_out().empty());
  ASSERT_EQ(train->passed_over().size(), 2u);
  EXPECT_EQ(train->passed_over()[0].where, dir + "/train/dog/notes.txt");
  EXPECT_EQ(train->passed_over()[1].where, dir + "/train/readme");
  // `val` has one class of the two, under the number that it has in `train`.
  const auto val = OpenImageFolder(dir, Split::kTest);
  EXPECT_EQ(val->size(), 1);
  EXPECT_EQ(val->Get(0).target.Item(), 1);
  EXPECT_EQ(val->passed_over().size(), 1u);
  ExpectBadInput([&] { val->Get(1); }, dir + "/val", "0 to 0, got 1");
}

TEST(ImageFolder, FindsTheTestImagesByAnyOfTheirNames) {
  for (const char* name : {"val", "valid", "validation"}) {
    const std::string dir = TestFolder();
    Put(dir, "train/a/x.pgm", Pixel(1));
    ExpectBadInput([&] { OpenImageFolder(dir, Split::kTest); }, dir,
                   "one of val, valid and validation; got train");
    Put(dir, fmt::format("{}/a/x.pgm", name), Pixel(2));
    EXPECT_EQ(FirstByte(*OpenImageFolder(dir, Split::kTest), 0), 2);
    Put(dir, "test/a/x.pgm", Pixel(3));
    EXPECT_EQ(FirstByte(*OpenImageFolder(dir, Split::kTest), 0), 3);
  }
  const std::string dir = TestFolder();
  for (const char* path : {"train/a/x.pgm", "val/a/x.pgm", "valid/a/x.pgm"})
    Put(dir, path, Pixel(1));
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTest); }, dir, "got val and valid");
}

TEST(ImageFolder, AFolderWithoutImagesIsNoClass) {
  const std::string dir = TestFolder();
  Put(dir, "train/a/x.pgm", Pixel(1));
  Put(dir, "train/.git/HEAD", {1});
  Put(dir, "train/.git/objects/1.pgm", Pixel(1));
  Put(dir, "train/__MACOSX/a/._x.pgm", {0});
  Put(dir, "train/.ipynb_checkpoints/x-checkpoint.pgm", Pixel(1));
  Put(dir, "train/notes/today.txt", {1});
  Put(dir, "test/a/y.pgm", Pixel(1));
  Put(dir, "test/.git/HEAD", {1});
  fs::create_directories(dir + "/train/empty");
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_EQ(set->info().classes, std::vector<std::string>{"a"});
  EXPECT_EQ(set->size(), 1);
  std::vector<std::string> passed_over;
  for (const LeftOut& one : set->passed_over())
    passed_over.push_back(one.where.substr(dir.size()) + ": " + one.reason);
  EXPECT_EQ(passed_over,
            (std::vector<std::string>{"/train/.git: a hidden folder of 2 files",
                                      "/train/.ipynb_checkpoints: a hidden folder of 1 file",
                                      "/train/__MACOSX: a hidden folder of 1 file",
                                      "/train/empty: a folder of 0 files without images",
                                      "/train/notes: a folder of 1 file without images"}));
  EXPECT_EQ(OpenImageFolder(dir, Split::kTest)->passed_over().size(), 1u);
}

// Every file is an example, or it is said what it is.
TEST(ImageFolder, IgnoresNothing) {
  const std::string dir = TestFolder(), a = dir + "/train/a";
  for (const char* name : {"1.PNG", "2.tif", "3.TIFF", "4.webp", "5.bmp", "6.jpeg", "7.ppm"})
    Put(a, name, Pixel(1));
  for (const char* name : {"._1.png", "Thumbs.db", "8.gif", "9", "10.jpg.txt"})
    Put(a, name, Pixel(1));
  Put(a, ".cache/1.pgm", Pixel(1));
  fs::create_directories(a + "/folder.jpg");
  fs::create_symlink("nowhere", a + "/lost.jpg");
  fs::create_symlink("nowhere", dir + "/train/lost");
  ASSERT_EQ(mkfifo((a + "/pipe.jpg").c_str(), 0600), 0);
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_EQ(set->size(), 7);
  std::vector<std::string> passed_over;
  for (const LeftOut& one : set->passed_over())
    passed_over.push_back(one.where.substr(dir.size() + 7) + ": " + one.reason);
  EXPECT_EQ(passed_over,
            (std::vector<std::string>{
                "a/._1.png: not named as an image", "a/.cache: a hidden folder of 1 file",
                "a/10.jpg.txt: not named as an image", "a/8.gif: not named as an image",
                "a/9: not named as an image", "a/Thumbs.db: not named as an image",
                "a/lost.jpg: a link to nothing", "a/pipe.jpg: no regular file",
                "lost: a link to nothing"}));
}

TEST(ImageFolder, FollowsLinksButNotInCircles) {
  const std::string dir = TestFolder();
  Put(dir, "elsewhere/deep/1.pgm", Pixel(1));
  Put(dir, "more/2.pgm", Pixel(2));
  Put(dir, "train/a/3.pgm", Pixel(3));
  fs::create_directory_symlink(dir + "/elsewhere", dir + "/train/a/0");
  fs::create_directory_symlink(dir + "/more", dir + "/train/b");
  fs::create_symlink(dir + "/more/2.pgm", dir + "/train/a/4.pgm");
  fs::create_directory_symlink(dir + "/train/a", dir + "/elsewhere/deep/back");
  fs::create_directory_symlink("..", dir + "/train/a/up");
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_EQ(set->info().classes, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(set->size(), 4);
  const int values[] = {1, 3, 2, 2};
  for (const int i : {0, 1, 2, 3}) EXPECT_EQ(FirstByte(*set, i), values[i]) << i;
  ASSERT_EQ(set->passed_over().size(), 2u);
  EXPECT_EQ(set->passed_over()[0].where, dir + "/train/a/0/deep/back");
  EXPECT_EQ(set->passed_over()[1].where, dir + "/train/a/up");
  EXPECT_EQ(set->passed_over()[1].reason, "a link back to a folder that it is in");
}

// Two frames of one pixel, white and black.
TEST(ImageFolder, SaysThatFramesArePassedOver) {
  const std::string dir = TestFolder();
  const std::string frame = std::string(",\0\0\0\0\1\0\1\0\0\2\2", 12) + "L\1" + std::string(1, 0);
  std::string gif = std::string("GIF89a\1\0\1\0\x80\0\0", 13) + "\x07\x08\x09" + "\x01\x02\x03";
  gif += frame + frame + ";";
  Put(dir, "train/a/x.jpg", Bytes(gif.begin(), gif.end()));
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_TRUE(set->passed_over().empty()) << "not read yet";
  for (const int epoch : {0, 1}) {
    EXPECT_EQ(ToVector<uint8_t>(set->Get(0).inputs[0]), (Bytes{1, 2, 3})) << epoch;
    ASSERT_EQ(set->passed_over().size(), 1u);
  }
  EXPECT_EQ(set->passed_over()[0].reason, "only the first of its frames or pages is used");
}

TEST(ImageFolder, AnEvaluationHasNoExampleForABadFile) {
  const std::string dir = TestFolder();
  Put(dir, "train/a/0.pgm", Pixel(1));
  for (const char* name : {"train/a/1.pgm", "train/a/2.pgm"}) Put(dir, name, {});
  const auto set = OpenImageFolder(dir, Split::kTrain);
  EXPECT_TRUE(set->GetUnlessLeftOut(0).has_value());
  EXPECT_FALSE(set->GetUnlessLeftOut(1).has_value());
  EXPECT_FALSE(set->GetUnlessLeftOut(2).has_value());
  EXPECT_EQ(set->left_out().size(), 2u);
  EXPECT_EQ(FirstByte(*set, 2), 1) << "as training has it";
  ExpectBadInput([&] { set->GetUnlessLeftOut(3); }, dir, "0 to 2, got 3");
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
  const auto open = [&] { OpenImageFolder(dir, Split::kTrain); };
  ExpectBadInput(open, dir,
                 "no image folder here: looked for train, with a folder for each class; "
                 "got nothing");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"})
    fs::create_directories(dir + "/" + name);
  ExpectBadInput(open, dir, "got a, b, c, d, e and 2 more");
  fs::create_directories(dir + "/train");
  ExpectBadInput(open, dir + "/train", "a folder with images for each class, got nothing");
  fs::create_directories(dir + "/train/a");
  ExpectBadInput(open, dir + "/train", "a folder with images for each class, got a");
  Put(dir, "train/a/x.png", {1});
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTrain); }, dir + "/train",
                 "got 1 bad files, the first one " + dir + "/train/a/x.png: requires");
  Put(dir, "train/a/y.pgm", Pixel(1));
  ExpectBadInput([&] { OpenImageFolder(dir, Split::kTest); }, dir, "a folder test, or one of val");
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

TEST_F(Food101, IsAlsoFoundWhereItsArchiveUnpacksTo) {
  const std::string above = dir_ + "-above";
  fs::remove_all(above);
  fs::create_directories(above);
  fs::create_directory_symlink(dir_, above + "/food-101");
  EXPECT_EQ(OpenFood101(above, Split::kTrain)->size(), 3);
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
  fs::create_directories(dir_ + "x/food-101/meta");
  ExpectBadInput([&] { OpenFood101(dir_ + "x", Split::kTrain); }, dir_ + "x",
                 "no Food-101 here: looked for meta/classes.txt, also in food-101; got food-101");
}

}  // namespace
}  // namespace torus::data
