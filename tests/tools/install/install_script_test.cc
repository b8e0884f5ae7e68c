// What install.sh does to a prefix, by packages of a few files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/command.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

using torus::testing::Outcome;

const std::string kManifest = "share/torus/manifest.txt";

class InstallScript : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    scratch_ = fs::path(::testing::TempDir() + name).lexically_normal();
    fs::remove_all(scratch_);
    Pack({"include/torus/torus.h"});
  }
  // Makes the package of the two libraries and the files.
  void Pack(std::vector<std::string> files) const {
    files.insert(files.end(), {"lib/libtorus.a", "lib/libtorus.so.0"});
    const fs::path tree = scratch_ + "/tree";
    fs::remove_all(tree);
    for (const std::string& file : files) {
      fs::create_directories((tree / file).parent_path());
      std::ofstream(tree / file) << "ours";
    }
    fs::create_symlink("libtorus.so.0", tree / "lib/libtorus.so");
    const std::string command = "tar -C " + tree.string() + " -cf " + scratch_ + "/package.tar .";
    ASSERT_EQ(torus::testing::RunCommand(command).status, 0);
  }
  // Runs it with these arguments, where files are readable by their owner alone.
  Outcome Run(const std::string& arguments) const {
    return torus::testing::RunCommand("umask 077; TORUS_PACKAGE=" + scratch_ +
                                      " tools/install/install.sh " + arguments + " 2>&1");
  }
  Outcome Install() const { return Run("--prefix " + Prefix()); }
  std::string Prefix() const { return scratch_ + "/prefix"; }
  // All files and links below the prefix.
  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(Prefix()))
      if (!entry.is_directory()) files.insert(entry.path().lexically_relative(Prefix()));
    return files;
  }
  std::set<std::string> Manifest() const {
    std::ifstream file(Prefix() + "/" + kManifest);
    std::set<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.insert(line);
    return lines;
  }
  static fs::perms Mode(const std::string& path) { return fs::status(path).permissions(); }
  std::string scratch_;
};

TEST_F(InstallScript, ListsAllFilesAndItsListAmongThem) {
  const Outcome installed = Install();
  ASSERT_EQ(installed.status, 0) << installed.output;
  EXPECT_EQ(Files(), (std::set<std::string>{"include/torus/torus.h", "lib/libtorus.a",
                                            "lib/libtorus.so", "lib/libtorus.so.0", kManifest}));
  EXPECT_EQ(Manifest(), Files());
}

TEST_F(InstallScript, LetsOthersReadIt) {
  ASSERT_EQ(Install().status, 0);
  const fs::perms folder{0755}, file{0644};
  EXPECT_EQ(Mode(Prefix()), folder);
  EXPECT_EQ(Mode(Prefix() + "/include/torus"), folder);
  EXPECT_EQ(Mode(Prefix() + "/include/torus/torus.h") & file, file);
  EXPECT_EQ(Mode(Prefix() + "/" + kManifest), file);
}

TEST_F(InstallScript, LeavesTheModeOfAFolderThatIsThere) {
  fs::create_directories(Prefix());
  fs::permissions(Prefix(), fs::perms{0750});
  ASSERT_EQ(Install().status, 0);
  EXPECT_EQ(Mode(Prefix()), fs::perms{0750});
}

TEST_F(InstallScript, ReplacesWhatItHasInstalled) {
  Pack({"include/torus/old/old.h", "include/torus/torus.h"});
  ASSERT_EQ(Install().status, 0);
  Pack({"include/torus/new.h", "include/torus/torus.h"});
  const Outcome again = Install();
  ASSERT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(fs::exists(Prefix() + "/include/torus/new.h"));
  EXPECT_FALSE(fs::exists(Prefix() + "/include/torus/old"));
  EXPECT_EQ(Manifest(), Files());
}

// One whose list does not name itself, and one that was killed while it unpacked.
TEST_F(InstallScript, ReplacesWhatAnOlderOrAKilledOneLeft) {
  ASSERT_EQ(Install().status, 0);
  const std::set<std::string> whole = Manifest();
  std::ofstream old(Prefix() + "/" + kManifest);
  for (const std::string& file : whole)
    if (file != kManifest) old << file << "\n";
  old.close();
  fs::create_directories(Prefix() + "/.torus-installing/tree/lib");
  const Outcome again = Install();
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(Manifest(), whole);
  EXPECT_EQ(Files(), whole);
  EXPECT_FALSE(fs::exists(Prefix() + "/.torus-installing"));
}

TEST_F(InstallScript, LeavesFilesOfOthersAndSaysWhich) {
  ASSERT_EQ(Install().status, 0);
  const std::set<std::string> before = Files();
  const std::string mine = Prefix() + "/include/torus/mine.h";
  std::ofstream(mine) << "mine";
  Pack({"include/torus/mine.h", "include/torus/new.h"});
  const Outcome refused = Install();
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.output.find(mine), std::string::npos) << refused.output;
  std::ifstream file(mine);
  EXPECT_EQ((std::stringstream() << file.rdbuf()).str(), "mine");
  EXPECT_EQ(Manifest(), before);
  for (const std::string& name : before) EXPECT_TRUE(fs::exists(Prefix() + "/" + name)) << name;
}

TEST_F(InstallScript, LeavesAnInstallationAsItIsWhenItCannotUnpack) {
  ASSERT_EQ(Install().status, 0);
  const std::set<std::string> before = Files();
  std::ofstream(scratch_ + "/package.tar") << "no archive";
  EXPECT_NE(Install().status, 0);
  EXPECT_EQ(Files(), before);
  EXPECT_NE(Run("--prefix " + scratch_ + "/fresh").status, 0);
  EXPECT_FALSE(fs::exists(scratch_ + "/fresh"));
}

TEST_F(InstallScript, RemovesItsOwnFilesOnce) {
  ASSERT_EQ(Install().status, 0);
  std::ofstream(Prefix() + "/lib/other.txt") << "another's";
  EXPECT_EQ(Run("--uninstall --prefix " + Prefix()).status, 0);
  EXPECT_EQ(Files(), std::set<std::string>{"lib/other.txt"});
  EXPECT_FALSE(fs::exists(Prefix() + "/share"));
  const Outcome again = Run("--uninstall --prefix " + Prefix());
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.output.find("no installation"), std::string::npos) << again.output;
}

TEST_F(InstallScript, RefusesWhatItDoesNotKnow) {
  const Outcome unknown = Run("--prefx " + Prefix());
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.output.find("--prefx"), std::string::npos) << unknown.output;
  const Outcome none = Run("");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.output.find("usage"), std::string::npos) << none.output;
}

}  // namespace
}  // namespace torus::tools::testing
