// Folders whose listing fails in the middle, as on a network file system. This program's own
// readdir stands before the system's.
#include "runtime/io/folder_names.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "runtime/io/folder.h"
#include "runtime/io/link_files.h"

namespace {
int reads_left = -1;  // until one fails; negative: none fails
}

extern "C" dirent* readdir(DIR* folder) {
  static auto* const real = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (reads_left == 0) {
    errno = EIO;
    return nullptr;
  }
  if (reads_left > 0) --reads_left;
  return real(folder);
}

namespace torus::io {
namespace {

namespace fs = std::filesystem;

class FolderNames : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
    for (const char* name : {"c", "a", "b"}) std::ofstream(root_ + "/" + name) << name;
  }
  void TearDown() override {
    reads_left = -1;
    fs::remove_all(root_);
  }
  const std::string root_ = testing::TempDir() + "folder_names_test";
};

TEST_F(FolderNames, AreSorted) {
  EXPECT_EQ(NamesIn(root_), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_THROW(NamesIn(root_ + "/none"), BrokenEnvironment);
}

TEST_F(FolderNames, AFailureInTheMiddleNamesTheFolder) {
  for (reads_left = 4; reads_left > 0;) {
    const int left = --reads_left;
    try {
      NamesIn(root_);
      ADD_FAILURE() << left;
    } catch (const BrokenEnvironment& error) {
      EXPECT_EQ(error.what(), "[" + root_ + "] cannot list: Input/output error");
    }
    reads_left = left;
  }
}

TEST_F(FolderNames, LinkingAFolderReportsIt) {
  fs::create_directories(root_ + "/to");
  reads_left = 3;
  EXPECT_THROW(LinkFiles(root_, root_ + "/to"), BrokenEnvironment);
}

// A writer's destructor lists the working folder. It must not end the program after the commit.
TEST_F(FolderNames, AWriterSurvivesIt) {
  const std::string path = root_ + "/checkpoint";
  {
    FolderWriter writer(path);
    std::ofstream(writer.temporary() + "/file") << "text";
    writer.Commit();
    reads_left = 3;  // both dots and a name, so that it is the iterator's step that fails
  }
  reads_left = -1;
  EXPECT_TRUE(fs::exists(path + "/file"));
  FolderWriter writer(path);  // and the next one goes on
}

}  // namespace
}  // namespace torus::io
