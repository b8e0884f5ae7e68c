#include "runtime/io/link_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/error.h"
#include "runtime/io/folder.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

class LinkFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
    FolderWriter writer(path_);
    std::ofstream(writer.temporary() + "/a") << std::string(3'000'000, 'a');
    std::ofstream(writer.temporary() + "/empty");
    fs::create_directory(writer.temporary() + "/folder");
    writer.Commit();
  }
  void TearDown() override { fs::remove_all(root_); }
  static std::string Text(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const fs::path root_ = fs::path(testing::TempDir()) / "link_files_test";
  const std::string path_ = (root_ / "checkpoint").string();
  const std::string other_ = (root_ / "earlier" / "step-1").string();
};

TEST_F(LinkFilesTest, TheSecondNameOutlivesTheFirst) {
  {
    FolderWriter writer(other_);
    LinkFiles(path_, writer.temporary());
    writer.Commit();
  }
  EXPECT_TRUE(fs::equivalent(path_ + "/a", other_ + "/a"));
  RemoveFolder(path_);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(Text(other_ + "/a"), std::string(3'000'000, 'a'));
  EXPECT_TRUE(fs::exists(other_ + "/empty"));
  EXPECT_FALSE(fs::exists(other_ + "/folder"));
  RemoveFolder(path_);  // there is none any more
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

// /dev/shm is another file system, to which no link leads.
TEST_F(LinkFilesTest, CopiesWhereItCannotLink) {
  std::string far = "/dev/shm/torus_link_files_XXXXXX";
  if (mkdtemp(far.data()) == nullptr) GTEST_SKIP() << "there is no /dev/shm to write in";
  LinkFiles(path_, far);
  EXPECT_EQ(Text(far + "/a"), std::string(3'000'000, 'a'));
  EXPECT_TRUE(fs::exists(far + "/empty"));
  EXPECT_EQ(fs::hard_link_count(path_ + "/a"), 1u);
  fs::remove_all(far);
}

TEST_F(LinkFilesTest, RemovingAFolderThatIsWrittenIsRefused) {
  FolderWriter writer(path_);
  EXPECT_THROW(RemoveFolder(path_), BadInput);
  EXPECT_TRUE(fs::exists(path_ + "/a"));
  EXPECT_THROW(LinkFiles(other_, path_), BadInput);
}

}  // namespace
}  // namespace torus::io
