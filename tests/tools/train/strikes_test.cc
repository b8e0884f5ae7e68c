// A rank of a run over MPI is killed or stopped at twenty random moments: it is named, no process
// is left, and the run that is resumed ends in the bits of one that nothing has struck. Four runs,
// which mostly wait, go at the same time.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/testing/deadline.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 4, kStrikes = 20;
constexpr const char* kEpochs = "12";
constexpr std::chrono::seconds kLongest{120};  // of any wait here

// Whether a process that writes to `out` has this rank.
bool IsRank(const fs::path& process, int rank, const std::string& out) {
  const std::string command = ReadText(process / "cmdline");
  const std::string environment = '\0' + ReadText(process / "environ");
  const std::string wanted = '\0' + ("OMPI_COMM_WORLD_RANK=" + std::to_string(rank)) + '\0';
  return command.find('\0' + out + '\0') != std::string::npos &&
         environment.find(wanted) != std::string::npos;
}

// 0: there is none.
pid_t ProcessOf(int rank, const std::string& out) {
  for (const auto& process : fs::directory_iterator("/proc")) {
    const std::string name = process.path().filename().string();
    if (name.find_first_not_of("0123456789") == name.npos && IsRank(process.path(), rank, out))
      return std::stoi(name);
  }
  return 0;
}

class Strikes : public ProgramTest {
 protected:
  std::vector<std::string> Flags(const std::string& out) const {
    std::vector<std::string> flags =
        Small(out, {"--stages", "2", "--replicas", "2", "--codec", "sortq:8", "--threads", "4",
                    "--checkpoint-every", "1", "--timeout", "5"});
    *(std::ranges::find(flags, "--epochs") + 1) = kEpochs;
    return flags;
  }
  Program StartMpi(std::vector<std::string> flags, const std::string& output) const {
    flags.insert(flags.begin(), "tools/train/train");
    return Program("/usr/bin/env", parallel::MpirunCommand(kRanks, flags), output);
  }
  // A folder for what the programs of a run print.
  std::string OutputOf(const std::string& run) const {
    const std::string folder = scratch_ + "/output-of-" + run;
    fs::create_directories(folder);
    return folder;
  }
  bool Exists(const std::string& path) const { return fs::exists(scratch_ + "/" + path); }

  // Strikes `rank` some time after the first checkpoint of the run.
  void Strike(const std::string& run, int rank, int signal, std::chrono::microseconds after) const {
    const Program program = StartMpi(Flags(run), OutputOf(run));
    ASSERT_TRUE(torus::testing::Eventually(
        kLongest, [&] { return Exists(run + "/checkpoint") || !program.running(); }));
    std::this_thread::sleep_for(after);
    const pid_t struck = ProcessOf(rank, scratch_ + "/" + run);
    if (struck == 0) return ADD_FAILURE() << "the run has ended before: " << program.Wait().err;
    kill(struck, signal);
    const Ended ended = program.Wait();
    EXPECT_NE(ended.status, 0) << ended.out;
    EXPECT_NE(ended.err.find("torus: "), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("rank " + std::to_string(rank) +
                             (signal == SIGKILL ? " on " : " shows no progress")),
              std::string::npos)
        << ended.err;
    for (int r = 0; r < kRanks; ++r)
      EXPECT_TRUE(torus::testing::Eventually(kLongest, [&] {
        return ProcessOf(r, scratch_ + "/" + run) == 0;
      })) << r;
  }
  void StrikeAndResume(const std::string& run, int rank, int signal,
                       std::chrono::microseconds after) const {
    SCOPED_TRACE(run + ", rank " + std::to_string(rank) + ", signal " + std::to_string(signal));
    Strike(run, rank, signal, after);
    if (HasFailure()) return;
    // A process that ends loses its name, by which ProcessOf finds it, before the folder's lock.
    Ended resumed;
    EXPECT_TRUE(torus::testing::Eventually(kLongest, [&] {
      resumed =
          Program("tools/train/train", {"--resume", scratch_ + "/" + run}, OutputOf(run)).Wait();
      return resumed.err.find(" is in use by process ") == std::string::npos;
    }));
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(Tensors(run), whole_);
  }

  std::string whole_;  // what a run ends in that nothing has struck
};

TEST_F(Strikes, AreNamedAndResumedFrom) {
  setenv("TMPDIR", "/tmp", 1);  // the names of mpirun's sockets must be short
  ASSERT_EQ(Train(Flags("whole")).status, 0);
  whole_ = Tensors("whole");
  std::mt19937 random(1);
  for (int i = 0; i < kStrikes && !HasFailure();) {
    std::vector<std::jthread> runs;
    for (int rank = 0; rank < kRanks; ++rank, ++i) {
      const int signal = i / kRanks % 2 == 0 ? SIGKILL : SIGSTOP;
      const std::chrono::microseconds after(random() % 1'000'000);
      runs.emplace_back(
          [=, this] { StrikeAndResume("run" + std::to_string(i), rank, signal, after); });
    }
  }
}

}  // namespace
}  // namespace torus::tools::testing
