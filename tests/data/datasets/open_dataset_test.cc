#include "data/datasets/open_dataset.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

TEST(OpenDataset, ListsTheNamesItKnows) {
  EXPECT_EQ(MessageOf<BadInput>([] { OpenDataset("mnist", "", Split::kTrain); }),
            "[data] requires one of fashion-mnist, cifar10, cifar100, image-folder, food101, got "
            "'mnist'");
}

TEST(OpenDataset, NamesTheFolderThatIsNone) {
  const std::string dir = TestFolder();
  ExpectBadInput([&] { OpenDataset("cifar10", dir + "/none", Split::kTrain); }, dir + "/none",
                 "No such file or directory");
  const std::string file = WriteFile(dir, "file", {1});
  ExpectBadInput([&] { OpenDataset("cifar10", file, Split::kTrain); }, file, "got a file");
  ExpectBadInput([&] { OpenDataset("cifar10", file + "/below", Split::kTrain); }, file + "/below",
                 "Not a directory");
  ExpectBadInput([&] { OpenDataset("cifar10", "", Split::kTrain); }, "cifar10", "--data-dir");
}

TEST(OpenDataset, SaysWhatHasImageFiles) {
  for (const std::string& name : DatasetNames())
    EXPECT_EQ(IsOfImageFiles(name), name == "image-folder" || name == "food101") << name;
}

}  // namespace
}  // namespace torus::data
