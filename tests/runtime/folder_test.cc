#include "runtime/io/folder.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder_reader.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 3;

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  const fs::path root_ = fs::path(testing::TempDir()) / "folder_test";
  const std::string path_ = (root_ / "checkpoint").string();
};

void CommitFiles(const std::string& path, const std::string& text) {
  FolderWriter writer(path);
  fs::create_directory(writer.temporary() + "/sub");
  for (int i = 0; i < kFiles; ++i) {
    OutputFile file(writer.temporary() + (i == 0 ? "/sub/" : "/") + std::to_string(i));
    file.Write(text);
    file.Close(false);
  }
  writer.Commit();
}

// The text that all files hold; "mixed" or "missing" otherwise.
std::string Contents(const std::string& path) {
  std::string all;
  for (int i = 0; i < kFiles; ++i) {
    std::ifstream in(path + (i == 0 ? "/sub/" : "/") + std::to_string(i));
    if (!in) return "missing";
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (i > 0 && text != all) return "mixed";
    all = text;
  }
  return all;
}

size_t EntriesOf(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST_F(Folder, CommitsAndReplaces) {
  CommitFiles(path_, "one");
  EXPECT_EQ(Contents(path_), "one");
  CommitFiles(path_ + "/", "two");
  EXPECT_EQ(Contents(path_), "two");
  EXPECT_EQ(EntriesOf(root_), 1u);
}

TEST_F(Folder, MakesTheFoldersAbove) {
  CommitFiles(path_ + "/a/b", "deep");
  EXPECT_EQ(Contents(path_ + "/a/b"), "deep");
}

TEST_F(Folder, ReplacesWhatALinkPointsAt) {
  CommitFiles(path_, "one");
  fs::create_directory_symlink(path_, root_ / "link");
  CommitFiles((root_ / "link").string(), "two");
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_EQ(Contents(path_), "two");
}

TEST_F(Folder, WithoutCommitTheOldOneStays) {
  CommitFiles(path_, "one");
  {
    FolderWriter writer(path_);
    OutputFile(writer.temporary() + "/1").Write("two");
  }
  EXPECT_EQ(Contents(path_), "one");
  EXPECT_EQ(EntriesOf(root_), 1u);
}

// A program that has looked up the folder of one commit must not write to another by that path.
TEST_F(Folder, EachCommitHasAFolderOfItsOwnName) {
  std::string first;
  {
    FolderWriter writer(path_);
    first = writer.temporary();
    EXPECT_EQ(PlaceOf(path_).fresh(writer.name()), first);
    writer.Commit();
  }
  const FolderWriter writer(path_);
  EXPECT_NE(writer.temporary(), first);
  EXPECT_FALSE(fs::exists(first));
}

// Not even by a second name of the same file.
TEST_F(Folder, AFileThatIsThereIsNotTruncated) {
  CommitFiles(path_, "one");
  const std::string other = (root_ / "other").string();
  fs::create_hard_link(path_ + "/1", other);
  EXPECT_THROW(OutputFile(other, IfExists::kRefuse), BrokenEnvironment);
  EXPECT_EQ(Contents(path_), "one");
}

TEST_F(Folder, WhatAnEarlierVersionLeftIsRemoved) {
  CommitFiles(path_, "one");
  const std::string work = PlaceOf(path_).work;
  {
    FileLock lock(PlaceOf(path_).lock(), "test");
    fs::create_directories(work + "/new/sub");
    lock.LeaveFile();
  }
  CommitFiles(path_, "two");
  EXPECT_EQ(Contents(path_), "two");
  EXPECT_EQ(EntriesOf(root_), 1u);
}

TEST_F(Folder, ErrorsNameThePath) {
  std::ofstream(path_) << "a file";
  EXPECT_THROW(FolderWriter writer(path_), BadInput);
  EXPECT_THROW(FolderWriter writer(path_ + "/below"), BrokenEnvironment);
  try {
    FolderWriter writer("/proc/none/x");
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("[/proc/none] cannot create folder: "))
        << e.what();
  }
}

// What a kill left is put right by the next writer, though it commits nothing.
void Recover(const std::string& path) { FolderWriter writer(path); }

// As a reader finds it, before anything is put right.
std::string ReadContents(const std::string& path) {
  const std::string committed = CommittedFolder(path);
  if (committed.empty()) return "missing";
  const FolderReader reader(path);
  const std::string all = Contents(committed);
  for (int i = 1; i < kFiles; ++i)
    if (reader.File(std::to_string(i)).ReadAll() != all) return "mixed";
  return all;
}

// Makes this process's renameat2 with flags fail as on a file system that cannot swap.
void RefuseSwaps() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[4])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(code), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(3);
}

enum class End { kFinished, kKilled, kCannotTrace };

// Commits "two" in a child that is killed at its n-th system call stop (each call has two: entry
// and exit).
End CommitKilledAt(const std::string& path, int n, bool can_swap) {
  const pid_t child = fork();
  if (child == 0) {
    if (!can_swap) RefuseSwaps();
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(3);
    raise(SIGSTOP);
    CommitFiles(path, "two");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (int stop = 0; WIFSTOPPED(status); ++stop) {
    if (stop == 2 * n + 1) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return End::kKilled;
    }
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    waitpid(child, &status, 0);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::kFinished : End::kCannotTrace;
}

// Kills the commit at every system call in turn. Whatever is left, a reader finds one commit whole,
// and the next writer leaves it so, with nothing beside it.
class KilledCommit : public Folder, public testing::WithParamInterface<bool> {};

TEST_P(KilledCommit, LeavesTheOldOrTheNewOne) {
  int kills = 0, old_ones = 0, new_ones = 0;
  for (End end = End::kKilled; end == End::kKilled; ++kills) {
    if (Contents(path_) != "one") CommitFiles(path_, "one");
    end = CommitKilledAt(path_, kills, GetParam());
    if (end == End::kCannotTrace) GTEST_SKIP() << "ptrace or seccomp is not permitted here";
    ASSERT_FALSE(GetParam() && Contents(path_) == "missing") << "killed at call " << kills;
    const std::string contents = ReadContents(path_);
    ASSERT_TRUE(contents == "one" || contents == "two") << contents << " at call " << kills;
    Recover(path_);
    ASSERT_EQ(Contents(path_), contents) << "killed at call " << kills;
    ASSERT_EQ(EntriesOf(root_), 1u) << "killed at call " << kills;
    ++(contents == "one" ? old_ones : new_ones);
  }
  EXPECT_GT(old_ones, 20);
  RecordProperty("kills", kills);
  EXPECT_GT(new_ones, 10);
}

INSTANTIATE_TEST_SUITE_P(Swap, KilledCommit, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Swapped" : "TwoRenames"; });

// The first commit ever: nothing or the new one.
TEST_F(Folder, KilledFirstCommitLeavesNothingOrAll) {
  for (int kills = 0;; ++kills) {
    fs::remove_all(path_);
    const End end = CommitKilledAt(path_, kills, true);
    if (end == End::kCannotTrace) GTEST_SKIP() << "ptrace is not permitted here";
    const std::string contents = ReadContents(path_);
    ASSERT_TRUE(contents == "two" || contents == "missing") << contents << " at call " << kills;
    Recover(path_);
    ASSERT_EQ(Contents(path_), contents);
    ASSERT_EQ(EntriesOf(root_), contents == "two" ? 1u : 0u);
    if (end == End::kFinished) break;
  }
  EXPECT_EQ(Contents(path_), "two");
}

}  // namespace
}  // namespace torus::io
