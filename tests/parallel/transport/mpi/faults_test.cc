// Ranks of a job that are killed or stopped at random moments: each survivor names the rank in a
// line that begins "torus:", the job fails, and no process is left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "parallel/transport/mpi/mpi_world.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/testing/deadline.h"

namespace torus::parallel {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 4;
constexpr double kTimeout = 5;
constexpr std::chrono::seconds kLongest{120};  // of any wait here

// The job: a token goes round, and every rank works a little, until something happens.
void PassToken(Transport& t) {
  const int right = (t.rank() + 1) % kRanks, left = (t.rank() + kRanks - 1) % kRanks;
  for (int round = 0;; ++round) {
    std::vector<char> token(round % 2 == 0 ? 8 : 100'000), next(token.size());
    Pending sent = t.Send(right, {TagClass::kUser, 7}, {token.data(), token.size()}, "token");
    t.Recv(left, {TagClass::kUser, 7}, {next.data(), next.size()}, "token").Wait();
    sent.Wait();
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(300 * t.rank()));
      TickProgress();
    }
  }
}

// Behind the run rank 0 writes what it leaves, for several times the grace; meanwhile the others
// throw.
constexpr int kLines = 60;
void WriteTheSummary(MpiWorld& world, const fs::path& folder) {
  const auto held = world.HoldOffTheEnd();
  const auto alive = world.Alive();
  std::ofstream summary(folder / "summary");
  for (int line = 0; line < kLines; ++line) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    summary << "line " << line << std::endl;
  }
}

int RunFailingJob(const fs::path& folder) {
  try {
    MpiWorld world(0, ForProgram({.timeout = kTimeout, .grace = 0.5}));
    world.Run([](Transport& t) {
      if (t.rank() != 0) throw BrokenEnvironment("[/a\nb] the disk is full");
    });
    WriteTheSummary(world, folder);
  } catch (const Error&) {
    return 3;
  }
  return 0;
}

int RunJob(const fs::path& folder) {
  try {
    MpiWorld world(0, ForProgram({.timeout = kTimeout, .grace = 2}));
    std::ofstream(folder / std::to_string(world.local()[0])) << getpid() << "\n";
    world.Run(PassToken);
  } catch (const Error&) {
    return 3;
  }
  return 0;
}

class Job {
 public:
  explicit Job(const fs::path& folder, const char* what = "--job") : folder_(folder) {
    fs::create_directories(folder_);
    const std::vector<std::string> command =
        MpirunCommand(kRanks, {fs::read_symlink("/proc/self/exe"), what, folder_.string()});
    process_ = fork();
    if (process_ != 0) return;
    const int out = open((folder_ / "output").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    Exec(command);
    _exit(127);
  }
  ~Job() {
    if (process_ > 0) kill(process_, SIGKILL);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // The ranks' processes, once all are there; 0 for one that does not come.
  std::vector<pid_t> Ranks() const {
    std::vector<pid_t> ranks(kRanks);
    testing::Eventually(kLongest, [&] {
      for (int r = 0; r < kRanks; ++r) std::ifstream(folder_ / std::to_string(r)) >> ranks[r];
      return std::ranges::count(ranks, 0) == 0;
    });
    return ranks;
  }

  // mpirun's exit status; -1: none.
  int Wait() {
    int status = 0;
    if (!testing::Eventually(kLongest,
                             [&] { return waitpid(process_, &status, WNOHANG) == process_; }))
      return -1;
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string Output() const {
    std::ifstream in(folder_ / "output");
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  const fs::path folder_;
  pid_t process_ = 0;
};

// All that `rank` said in lines of ours.
std::string LinesOf(int rank, const std::string& output) {
  std::istringstream lines(output);
  const std::string begin =
      "[1," + std::to_string(rank) + "]<stderr>:torus: rank " + std::to_string(rank) + " on ";
  std::string line, own;
  while (std::getline(lines, line))
    if (line.starts_with(begin)) own += line + "\n";
  return own;
}

void ExpectGone(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes)
    EXPECT_TRUE(testing::Eventually(kLongest, [&] { return kill(process, 0) != 0; })) << process;
}

struct Strike {
  int number, victim;
  std::chrono::microseconds after;
};

void ExpectNamedBySurvivors(int victim, const std::string& said, const std::string& output) {
  const std::string wanted = "rank " + std::to_string(victim) + said;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == victim) continue;
    const std::string lines = LinesOf(rank, output);
    EXPECT_NE(lines.find(wanted), std::string::npos)
        << "rank " << rank << ", " << wanted << " in:\n"
        << output;
    EXPECT_NE(lines.find("waiting for "), std::string::npos) << output;
  }
}

void StrikeOnce(const Strike& strike, int signal, const std::string& name,
                const std::string& said) {
  Job job(fs::path(::testing::TempDir()) / (name + std::to_string(strike.number)));
  const std::vector<pid_t> ranks = job.Ranks();
  ASSERT_EQ(std::ranges::count(ranks, 0), 0) << job.Output();
  std::this_thread::sleep_for(strike.after);
  ASSERT_EQ(kill(ranks[strike.victim], signal), 0);
  EXPECT_GT(job.Wait(), 0) << job.Output();
  ExpectGone(ranks);
  ExpectNamedBySurvivors(strike.victim, said, job.Output());
}

// Two moments for each rank. All ranks are struck at the same time, each in a job of its own, since
// a job mostly waits.
void StrikeEach(int signal, const std::string& name, const std::string& said) {
  std::mt19937 random(signal);
  for (int moment = 0; moment < 2; ++moment) {
    std::vector<std::jthread> jobs;
    for (int victim = 0; victim < kRanks; ++victim) {
      const Strike strike{moment * kRanks + victim, victim,
                          std::chrono::microseconds(random() % 100'000)};
      jobs.emplace_back([=] { StrikeOnce(strike, signal, name, said); });
    }
  }
}

TEST(Faults, AKilledRankIsNamedByEverySurvivor) { StrikeEach(SIGKILL, "killed", " on "); }

TEST(Faults, AStoppedRankIsNamedByEverySurvivor) {
  StrikeEach(SIGSTOP, "stopped", " shows no progress (host ");
}

// The others wait for it beyond their grace, since it goes on.
TEST(Faults, RanksThatThrowLetRankZeroFinishItsSummary) {
  const fs::path folder = fs::path(::testing::TempDir()) / "throws";
  Job job(folder, "--failing-job");
  EXPECT_EQ(job.Wait(), 3) << job.Output();
  std::ifstream in(folder / "summary");
  int lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  EXPECT_EQ(lines, kLines) << job.Output();
  EXPECT_NE(LinesOf(1, job.Output()).find("fails: [/a\\nb] the disk is full\n"), std::string::npos)
      << job.Output();
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--job") return torus::parallel::RunJob(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--failing-job")
    return torus::parallel::RunFailingJob(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
