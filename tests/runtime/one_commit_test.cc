#include "runtime/io/one_commit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "runtime/io/file.h"
#include "runtime/io/folder.h"

namespace torus::io {
namespace {

// A commit of two files that say the same.
void Commit(const std::string& path, const std::string& text) {
  FolderWriter writer(path);
  for (const char* name : {"/a", "/b"}) std::ofstream(writer.temporary() + name) << text;
  writer.Commit();
}

std::string Read(const std::string& path) { return InputFile(path).ReadAll(); }

TEST(OneCommit, IsOpenedAgainWhereTheFolderWasReplaced) {
  const std::string path = ::testing::TempDir() + "one_commit";
  Commit(path, "first");
  int calls = 0;
  const auto both = OpenOneCommit(path, [&](const std::string& folder) {
    const std::string a = Read(folder + "/a");
    if (++calls == 1) Commit(path, "second");
    return std::pair(a, Read(folder + "/b"));
  });
  EXPECT_EQ(both, (std::pair<std::string, std::string>("second", "second")));
  EXPECT_EQ(calls, 2);
}

TEST(OneCommit, AnErrorCountsUnlessTheFolderWasReplaced) {
  const std::string path = ::testing::TempDir() + "one_commit_error";
  Commit(path, "first");
  int calls = 0;
  const auto open = [&](const std::string& folder) {
    if (++calls == 1) Commit(path, "second");
    return Read(folder + (calls == 1 ? "/gone" : "/a"));
  };
  EXPECT_EQ(OpenOneCommit(path, open), "second");
  EXPECT_THROW(OpenOneCommit(path, [](const std::string& folder) { return Read(folder + "/c"); }),
               BadInput);
  EXPECT_THROW(
      OpenOneCommit(path + "/none", [](const std::string& folder) { return Read(folder); }),
      BadInput);
}

TEST(OneCommit, IsOpenedAgainWhereTheFolderCameMeanwhile) {
  const std::string path = ::testing::TempDir() + "one_commit_late";
  std::filesystem::remove_all(path);
  int calls = 0;
  const std::string a = OpenOneCommit(path, [&](const std::string& folder) {
    if (++calls == 1) {
      Commit(path, "late");
      Throw<BadInput>(folder, "is not there");
    }
    return Read(folder + "/a");
  });
  EXPECT_EQ(a, "late");
}

// As a kill between two renames leaves it.
TEST(OneCommit, StandsInTheWritersFolderBetweenTwoRenames) {
  const std::string path = ::testing::TempDir() + "one_commit_moved",
                    work = ::testing::TempDir() + ".one_commit_moved.torus";
  std::filesystem::remove_all(path);
  std::filesystem::remove_all(work);
  std::filesystem::create_directories(work + "/old");
  std::ofstream(work + "/old/a") << "old";
  EXPECT_EQ(OpenOneCommit(path, [](const std::string& folder) { return Read(folder + "/a"); }),
            "old");
  std::filesystem::remove_all(work);
}

}  // namespace
}  // namespace torus::io
