// A program itself, run as a user runs it, on a data set of a few images.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/recipes/small_data.h"
#include "tests/testing/checkpoint_bytes.h"

namespace torus::tools::testing {

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return (std::stringstream() << file.rdbuf()).str();
}

struct Ended {
  int status = -1;  // of exit, or 128 + signal
  std::string out, err;
};

// A program on its way.
class Program {
 public:
  // `address_space`: the most bytes of it, as `ulimit -v` sets; 0: as the test has.
  Program(const std::string& path, std::vector<std::string> arguments, const std::string& scratch,
          size_t address_space = 0)
      : out_(scratch + "/stdout"), err_(scratch + "/stderr") {
    arguments.insert(arguments.begin(), path);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const rlimit limit{address_space, address_space};
    if (address_space > 0) setrlimit(RLIMIT_AS, &limit);
    dup2(open(out_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  void Signal(int signal) const { kill(pid_, signal); }
  pid_t pid() const { return pid_; }
  std::string out() const { return ReadText(out_); }
  // Leaves the status of one that has ended to Wait.
  bool running() const {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }
  // Waits until `ready` or its end, three minutes at most. Returns whether it runs and is ready.
  template <class Ready>
  bool RunsUntil(const Ready& ready) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (running() && !ready() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return running() && ready();
  }
  bool RunsUntilItSays(const std::string& text) const {
    return RunsUntil([&] { return out().find(text) != std::string::npos; });
  }
  Ended Wait() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, ReadText(out_), ReadText(err_)};
  }

 private:
  std::string out_, err_;
  pid_t pid_;
};

class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    scratch_ = std::filesystem::path(::testing::TempDir() + name).lexically_normal();
    std::filesystem::remove_all(scratch_);
    std::filesystem::create_directories(scratch_ + "/data");
    recipes::testing::WriteImages(scratch_ + "/data", "train", 90);
    recipes::testing::WriteImages(scratch_ + "/data", "t10k", 20);
  }

  // A small run: 4 steps an epoch, the last batch smaller. Two stages with 8 bits a value between
  // them, unless `more` says otherwise.
  std::vector<std::string> Small(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> flags = {"--model",         "mobilenet_v2:0.1",
                                      "--data-dir",      scratch_ + "/data",
                                      "--out",           scratch_ + "/" + out,
                                      "--epochs",        "2",
                                      "--batch-size",    "24",
                                      "--micro-batches", "2"};
    const auto says = [&](const char* flag) { return std::ranges::count(more, flag) > 0; };
    if (!says("--stages") && (!says("--cut") || says("auto")))
      flags.insert(flags.end(), {"--stages", "2"});
    if (!says("--stages") && !says("--codec")) flags.insert(flags.end(), {"--codec", "sortq:8"});
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  Program Start(const std::vector<std::string>& flags, size_t address_space = 0) const {
    return Program("tools/train/train", flags, scratch_, address_space);
  }
  Ended Train(const std::vector<std::string>& flags) const { return Start(flags).Wait(); }
  nlohmann::json Json(const std::string& path) const {
    return nlohmann::json::parse(ReadText(scratch_ + "/" + path));
  }
  // Weights, optimizer state and averages, as bytes.
  std::string Tensors(const std::string& run) const {
    return torus::testing::CheckpointBytes(scratch_ + "/" + run + "/checkpoint");
  }
  std::vector<double> Losses(const std::string& run) const {
    std::vector<double> losses;
    std::istringstream lines(ReadText(scratch_ + "/" + run + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      if (json["kind"] == "train") losses.push_back(json["loss"]);
    }
    return losses;
  }
  static void ExpectOneLine(const Ended& ended, int status, const std::string& says) {
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_NE(ended.err.find(says), std::string::npos) << "no \"" << says << "\" in " << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }

  std::string scratch_;
};

}  // namespace torus::tools::testing
