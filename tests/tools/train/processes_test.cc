// A run over MPI: each rank a process that mpirun starts.
#include <cstdlib>
#include <set>

#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/tools/train/program.h"

namespace torus::tools::testing {
namespace {

class Processes : public ProgramTest {
 protected:
  Program StartMpi(int processes, std::vector<std::string> flags) const {
    setenv("TMPDIR", "/tmp", 1);  // the names of mpirun's sockets must be short
    flags.insert(flags.begin(), "tools/train/train");
    return Program("/usr/bin/env", parallel::MpirunCommand(processes, flags), scratch_);
  }
  Ended Mpi(int processes, const std::vector<std::string>& flags) const {
    return StartMpi(processes, flags).Wait();
  }
};

TEST_F(Processes, GiveTheBitsOfThreads) {
  const std::vector<std::string> flags{"--stages", "2",     "--replicas", "2",         "--codec",
                                       "sortq:8",  "--ema", "0.9",        "--threads", "4"};
  const Ended threads = Train(Small("threads", flags)), mpi = Mpi(4, Small("mpi", flags));
  ASSERT_EQ(threads.status, 0) << threads.err;
  ASSERT_EQ(mpi.status, 0) << mpi.err;
  EXPECT_EQ(Losses("mpi"), Losses("threads"));
  EXPECT_EQ(Tensors("mpi"), Tensors("threads"));
  EXPECT_EQ(Json("mpi/summary.json")["test"], Json("threads/summary.json")["test"]);
  EXPECT_EQ(Json("mpi/summary.json")["links"], Json("threads/summary.json")["links"]);
  EXPECT_EQ(Json("mpi/summary.json")["ranks"].size(), 4u);
}

// A sum of two has one order, so MPI's own gives its bits too.
TEST_F(Processes, MaySumAsMpiDoes) {
  const std::vector<std::string> flags{"--stages", "1", "--replicas", "2", "--threads", "2"};
  std::vector<std::string> engine = flags;
  engine.insert(engine.end(), {"--collectives", "engine"});
  ASSERT_EQ(Train(Small("direct", flags)).status, 0);
  ExpectOneLine(Train(Small("engine", engine)), 2, "--collectives engine sums as MPI does");
  const Ended mpi = Mpi(2, Small("engine", engine));
  ASSERT_EQ(mpi.status, 0) << mpi.err;
  EXPECT_EQ(Tensors("engine"), Tensors("direct"));
}

// The trace has the events of every process.
TEST_F(Processes, AreAllInTheTrace) {
  const Ended mpi = Mpi(2, Small("mpi"));
  ASSERT_EQ(mpi.status, 0) << mpi.err;
  std::set<int> ranks;
  const nlohmann::json trace = Json("mpi/trace.json");
  for (const nlohmann::json& event : trace["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == "backward") ranks.insert(event["tid"].get<int>());
  EXPECT_EQ(ranks, (std::set<int>{0, 1}));
}

TEST_F(Processes, AreResumedAsThreadsAndTheOtherWayRound) {
  ASSERT_EQ(Train(Small("whole")).status, 0);
  const Ended begun = Mpi(2, Small("run", {"--max-steps", "3"}));
  ASSERT_EQ(begun.status, 0) << begun.err;
  const Ended resumed =
      Train({"--resume", scratch_ + "/run", "--data-dir", scratch_ + "/data", "--max-steps", "6"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  const Ended ended = Mpi(2, {"--resume", scratch_ + "/run"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Tensors("run"), Tensors("whole"));
}

// Once, though every process finds it.
TEST_F(Processes, SayOnceWhatIsWrongWithTheFlags) {
  const Ended ended = Mpi(2, Small("run", {"--lr", "0"}));
  EXPECT_EQ(ended.status, 2) << ended.err;
  size_t times = 0;
  for (size_t at = 0; (at = ended.err.find("train: ", at)) != std::string::npos; ++at) ++times;
  EXPECT_EQ(times, 1u) << ended.err;
}

TEST_F(Processes, MustBeAsManyAsTheRanks) {
  const Ended ended = Mpi(3, Small("run"));
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("make 2 ranks, one a process, but 3 processes were started"),
            std::string::npos)
      << ended.err;
}

// What fails in one process is named, and ends all.
TEST_F(Processes, EndTogether) {
  std::filesystem::create_directories(scratch_ + "/run/checkpoint");
  const Ended ended = Mpi(2, Small("run"));
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("torus: rank 0 on"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("/run"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace torus::tools::testing
