// Whose folders are whose: a user's with any name, and those of a writer that is at work.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "runtime/io/folder.h"
#include "runtime/io/folder_reader.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

class FolderOwner : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  const fs::path root_ = fs::path(testing::TempDir()) / "folder_owner_test";
  const std::string path_ = (root_ / "checkpoint").string();
};

void Put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

template <class Call>
void ExpectBadInput(const Call& call, const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "nothing was refused";
  } catch (const BadInput& error) {
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "no \"" << word << "\" in " << error.what();
  }
}

const std::vector<std::string> kNames = {"a", "b", "c", "d"};

void CommitNumber(const std::string& path, int number) {
  FolderWriter writer(path);
  for (const std::string& name : kNames)
    Put(writer.temporary() + "/" + name, std::to_string(number));
  writer.Commit();
}

// The number that all files hold.
int ReadNumber(const std::string& path) {
  const FolderReader reader(path);
  std::set<std::string> texts;
  for (const std::string& name : kNames) texts.insert(reader.File(name).ReadAll());
  EXPECT_EQ(texts.size(), 1u);
  return std::stoi(*texts.begin());
}

TEST_F(FolderOwner, NamesOfAUserAreLeftAlone) {
  Put(path_ + ".replaced/thesis.tex", "all of it");
  Put(path_ + ".committing/thesis.tex", "all of it");
  FolderWriter writer(path_);
  Put(writer.temporary() + "/weights", "1");
  writer.Commit();
  EXPECT_TRUE(fs::exists(path_ + ".replaced/thesis.tex"));
  EXPECT_TRUE(fs::exists(path_ + ".committing/thesis.tex"));
  EXPECT_TRUE(fs::exists(path_ + "/weights"));
}

TEST_F(FolderOwner, AFolderThatIsNotAWritersIsRefusedAndLeftAlone) {
  const std::string work = (root_ / ".checkpoint.torus").string();
  Put(work + "/new/thesis.tex", "all of it");
  ExpectBadInput([&] { FolderWriter writer(path_); }, {work, "has a file new"});
  Put(work + "/lock", "the key to the shed");
  ExpectBadInput([&] { FolderWriter writer(path_); }, {work + "/lock", path_});
  EXPECT_TRUE(fs::exists(work + "/new/thesis.tex"));
  EXPECT_EQ(fs::file_size(work + "/lock"), 19u);
}

TEST_F(FolderOwner, ASecondWriterIsRefusedByName) {
  FolderWriter first(path_);
  Put(first.temporary() + "/weights", "1");
  const std::string holder = "process " + std::to_string(getpid()) + " on host";
  ExpectBadInput([&] { FolderWriter second(path_); }, {"[" + path_ + "]", holder});
  // Another process learns the same.
  const pid_t child = fork();
  if (child == 0) {
    ExpectBadInput([&] { FolderWriter second(path_); }, {"[" + path_ + "]", holder});
    _exit(HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(first.temporary() + "/weights"));
  first.Commit();
  EXPECT_TRUE(fs::exists(path_ + "/weights"));
}

TEST_F(FolderOwner, AReaderChangesNothing) {
  CommitNumber(path_, 1);
  FolderWriter writer(path_);
  Put(writer.temporary() + "/a", "2");
  EXPECT_EQ(ReadNumber(path_), 1);
  EXPECT_TRUE(fs::exists(writer.temporary() + "/a"));
  // As a kill between two renames leaves it.
  fs::rename(path_, root_ / ".checkpoint.torus/old");
  EXPECT_EQ(ReadNumber(path_), 1);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(ReadNumber(path_), 1);
}

TEST_F(FolderOwner, ManyWritersTakeTurns) {
  constexpr int kWriters = 4, kCommits = 50;
  std::vector<std::thread> threads;
  std::atomic<int> refused{0}, done{0};
  for (int w = 0; w < kWriters; ++w)
    threads.emplace_back([&] {
      for (int i = 0; i < kCommits;) try {
          CommitNumber(path_, i);
          ++i, ++done;
        } catch (const BadInput& error) {
          ASSERT_NE(std::string(error.what()).find("is in use by"), std::string::npos)
              << error.what();
          ++refused;
        }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, kWriters * kCommits);
  EXPECT_EQ(ReadNumber(path_), kCommits - 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

// noexcept: gtest would catch what the child throws, and run the other tests in it.
[[noreturn]] void CommitForEver(const std::string& path, int first) noexcept {
  for (int i = first;; ++i) CommitNumber(path, i);
}

// Twenty writers one after the other, each killed once it has committed a few times.
void KillWriters(const std::string& path) {
  for (int round = 0; round < 20; ++round) {
    const int first = ReadNumber(path) + 1;
    const pid_t child = fork();
    if (child == 0) CommitForEver(path, first);
    pid_t ended = 0;
    while (ReadNumber(path) < first + 5 && (ended = waitpid(child, nullptr, WNOHANG)) == 0)
      usleep(500 + 37 * round);
    ASSERT_EQ(ended, 0) << "writer " << round << " ended by itself";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

// A writer in another process, replaced by the next one when it is killed; readers all the while.
TEST_F(FolderOwner, ReadersSeeWholeCommitsWhileWritersAreKilled) {
  CommitNumber(path_, 0);
  // What forks must have no other threads: a lock that one of them holds stays locked in the child.
  const pid_t killer = fork();
  if (killer == 0) {
    KillWriters(path_);
    _exit(HasFailure() ? 1 : 0);
  }
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  std::atomic<int64_t> reads{0};
  for (int r = 0; r < 2; ++r)
    readers.emplace_back([&] {
      for (int last = 0; !stop; ++reads) {
        const int now = ReadNumber(path_);
        ASSERT_GE(now, last);
        last = now;
      }
    });
  int status = -1;
  waitpid(killer, &status, 0);
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(status, 0);
  EXPECT_GE(ReadNumber(path_), 100);
  EXPECT_GT(reads, 100);
}

}  // namespace
}  // namespace torus::io
