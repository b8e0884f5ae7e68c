#include "tools/common/output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "tests/testing/error_of.h"

namespace torus::tools {
namespace {

namespace fs = std::filesystem;

class OutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "output_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(folder_ / "file") << "text";
  }
  std::string In(const std::string& name) const { return (folder_ / name).string(); }
  std::string File(const std::string& name) const {
    return torus::testing::ErrorOf([&] { CheckOutput("codec", "--json", In(name)); });
  }
  std::string Folder(const std::string& name) const {
    return torus::testing::ErrorOf([&] { CheckOutputFolder("train", "--out", In(name)); });
  }
  fs::path folder_;
};

TEST_F(OutputTest, AFileNeedsItsFolder) {
  EXPECT_EQ(File("new"), "no error");
  EXPECT_EQ(File("file"), "no error");
  EXPECT_EQ(torus::testing::ErrorOf([] { CheckOutput("codec", "--json", ""); }), "no error");
  EXPECT_EQ(File("none/new"),
            "[codec] --json " + In("none/new") + ": there is no folder " + In("none"));
  EXPECT_EQ(File(""), "[codec] --json " + In("") + ": this is a folder");
  EXPECT_FALSE(fs::exists(In("new"))) << "the check makes nothing";
}

TEST_F(OutputTest, AFolderNeedsAFolderAbove) {
  EXPECT_EQ(Folder(""), "no error");
  EXPECT_EQ(Folder("a/b/c"), "no error");
  EXPECT_EQ(Folder("file"),
            "[train] --out " + In("file") + ": " + In("file") + " is a file, not a folder");
  EXPECT_EQ(Folder("file/a"),
            "[train] --out " + In("file/a") + ": " + In("file") + " is a file, not a folder");
}

TEST_F(OutputTest, SaysTheWholePathOfWhatItWrote) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  ::testing::internal::CaptureStdout();
  WriteOutput("new", "content");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "wrote " + In("new") + "\n");
  fs::current_path(before);
  EXPECT_EQ(fs::file_size(In("new")), 7);
}

}  // namespace
}  // namespace torus::tools
