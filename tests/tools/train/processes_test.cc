// A run over MPI: each rank a process that mpirun starts.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "parallel/data_parallel/strategy_factory.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/recipes/small_text.h"
#include "tests/testing/environment.h"
#include "tests/testing/program.h"

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

// Whatever would let them train apart: nothing of it is in the checkpoints' weights alone.
TEST_F(Processes, ThatWereToldDifferentThingsAreNamed) {
  using Words = std::vector<std::string>;
  const auto differ = [&](const std::string& flag, const std::string& one, const std::string& other,
                          const std::string& ranks = "--replicas") {
    const std::string script =
        "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then exec tools/train/train \"$@\" " + flag + " " + one +
        "; else exec tools/train/train \"$@\" " + flag + " " + other + "; fi";
    std::vector<std::string> command =
        Small("mpi", ranks == "--stages" ? Words{"--stages", "2"}
                                         : Words{"--replicas", "2", "--stages", "1"});
    command.insert(command.begin(), {"/bin/sh", "-c", script, "sh"});
    setenv("TMPDIR", "/tmp", 1);
    const Ended ended =
        Program("/usr/bin/env", parallel::MpirunCommand(2, command), scratch_).Wait();
    EXPECT_NE(ended.status, 0) << flag;
    EXPECT_NE(ended.err.find("rank 1 has " + flag + " " + other + ", rank 0 has " + one),
              std::string::npos)
        << flag << ": " << ended.err;
  };
  differ("--lr", "0.1", "0.2");
  differ("--weight-decay", "0", "0.001");
  differ("--momentum", "0.9", "0.5");
  differ("--lr-schedule", "cosine", "constant");
  differ("--augment", "none", "crop-flip");
  differ("--max-steps", "2", "3");
  differ("--timeout", "20", "30");
  // One that makes a rank alone exchange something before the others do.
  differ("--cut", "1", "auto", "--stages");
}

// srun without PMIx starts what does not know of each other: each would train all of it.
TEST_F(Processes, ThatCannotFindEachOtherDoNotTrain) {
  for (const char* variable : {"SLURM_STEP_NUM_TASKS", "PMI_SIZE"}) {
    setenv(variable, "8", 1);
    const Ended ended = Train(Small("alone"));
    unsetenv(variable);
    ExpectOneLine(ended, 2, "start them by srun --mpi=pmix");
    EXPECT_FALSE(std::filesystem::exists(scratch_ + "/alone"));
  }
  // PMIx says that there are several, but MPI finds this one alone. All but the first keep silent.
  setenv("SLURM_STEP_NUM_TASKS", "8", 1);
  for (const char* rank : {"0", "1"}) {
    setenv("PMIX_RANK", rank, 1);
    const Ended ended = Train(Small("alone"));
    unsetenv("PMIX_RANK");
    if (*rank == '0') {
      ExpectOneLine(ended, 2, "start them by srun --mpi=pmix");
    } else {
      EXPECT_EQ(ended.status, 2);
      EXPECT_EQ(ended.err, "");
    }
    EXPECT_FALSE(std::filesystem::exists(scratch_ + "/alone"));
  }
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  const Ended one = Train(Small("one", {"--max-steps", "1"}));
  unsetenv("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(one.status, 0) << one.err;
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

// Other stages, replicas and schedule, as processes and as threads, in mid-epoch.
class AnyLayout : public Processes {
 protected:
  // A transformer, so that a sample's part in a step does not depend on its micro-batch.
  std::vector<std::string> Run(const std::string& out, std::vector<std::string> more) const {
    recipes::testing::WriteLetters(scratch_ + "/text.txt", 4000);
    more.insert(more.end(), {"--model",         "gpt-char:2",
                             "--data",          "text",
                             "--data-dir",      scratch_ + "/text.txt",
                             "--length",        "16",
                             "--epoch-size",    "64",
                             "--batch-size",    "8",
                             "--epochs",        "2",
                             "--codec",         "none",
                             "--threads",       "4",
                             "--stages",        "2",
                             "--replicas",      "2",
                             "--micro-batches", "2",
                             "--out",           scratch_ + "/" + out});
    return more;
  }
  Ended Threads(std::vector<std::string> more) const {
    more.insert(more.end(), {"--resume", scratch_ + "/part", "--stages", "3", "--replicas", "1",
                             "--threads", "3", "--schedule", "1f1b", "--max-steps", "11"});
    return Train(more);
  }
  Ended FourProcesses(std::vector<std::string> more) const {
    more.insert(more.end(), {"--resume", scratch_ + "/part", "--stages", "1", "--replicas", "4",
                             "--threads", "4"});
    return Mpi(4, more);
  }
};

TEST_F(AnyLayout, GoesOnWithTheSameSamples) {
  ASSERT_EQ(Train(Run("whole", {})).status, 0);
  ASSERT_EQ(Mpi(4, Run("part", {"--max-steps", "5"})).status, 0);
  const Ended threads = Threads({"--micro-batches", "8"}),
              processes = FourProcesses({"--micro-batches", "1"});
  ASSERT_EQ(threads.status, 0) << threads.err;
  ASSERT_EQ(processes.status, 0) << processes.err;
  const std::vector<double> whole = Losses("whole"), part = Losses("part");
  ASSERT_EQ(whole.size(), 16u);
  ASSERT_EQ(part.size(), 16u);
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(part[i], whole[i], 1e-4 * whole[i]) << i;
}

TEST_F(AnyLayout, GoesOnInTheSameBitsWhereTheseAreReproducible) {
  ASSERT_EQ(Train(Run("whole", {"--reproducible"})).status, 0);
  ASSERT_EQ(Mpi(4, Run("part", {"--reproducible", "--max-steps", "5"})).status, 0);
  const Ended threads = Threads({}), processes = FourProcesses({"--strategy", "fsdp"});
  ASSERT_EQ(threads.status, 0) << threads.err;
  ASSERT_EQ(processes.status, 0) << processes.err;
  EXPECT_EQ(Losses("part"), Losses("whole"));
  EXPECT_TRUE(Tensors("part") == Tensors("whole"));
}

TEST_F(AnyLayout, GivesTheSameBitsByEveryStrategy) {
  ASSERT_EQ(Train(Run("ddp", {})).status, 0);
  for (const std::string& strategy : parallel::StrategyNames()) {
    if (!parallel::KeepsReplicasEqual(strategy)) continue;
    const Ended mpi = Mpi(4, Run("mpi", {"--strategy", strategy}));
    ASSERT_EQ(mpi.status, 0) << strategy << ": " << mpi.err;
    EXPECT_EQ(Losses("mpi"), Losses("ddp")) << strategy;
    EXPECT_TRUE(Tensors("mpi") == Tensors("ddp")) << strategy;
    std::filesystem::remove_all(scratch_ + "/mpi");
  }
}

// With dropout, clipping, tied weights, recompute and a smaller last micro-batch.
TEST_F(Processes, GiveTheSameBitsByEveryScheduleAndCut) {
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.end(), {"--model",         "gpt2:3",
                             "--data",          "text",
                             "--data-dir",      scratch_ + "/text.txt",
                             "--tokenizer",     "bytes",
                             "--length",        "8",
                             "--epoch-size",    "14",
                             "--batch-size",    "7",
                             "--epochs",        "1",
                             "--micro-batches", "4",
                             "--clip-norm",     "0.1",
                             "--recompute",     "1",
                             "--codec",         "none",
                             "--out",           scratch_ + "/" + out});
    return more;
  };
  std::ofstream(scratch_ + "/text.txt") << std::string(500, 'a') << "torus" << std::string(60, 'b');
  ASSERT_EQ(Train(run("one", {"--threads", "1"})).status, 0);
  const std::vector<std::vector<std::string>> layouts{
      {"--schedule", "gpipe", "--stages", "2", "--cut", "1"},
      {"--schedule", "1f1b", "--stages", "2", "--cut", "3"},
      {"--schedule", "zb-h1", "--stages", "2"},
      {"--schedule", "u-shaped", "--cut", "1,3"},
      {"--schedule", "interleaved", "--stages", "4", "--chunks", "2"},
      {"--schedule", "v-half", "--stages", "4"},
      {"--schedule", "dualpipe-v", "--stages", "4"}};
  for (std::vector<std::string> layout : layouts) {
    const std::string name = fmt::format("{}", fmt::join(layout, " "));
    layout.insert(layout.end(), {"--threads", "2"});
    const Ended mpi = Mpi(2, run("mpi", layout));
    ASSERT_EQ(mpi.status, 0) << name << ": " << mpi.err;
    EXPECT_EQ(Losses("mpi"), Losses("one")) << name;
    EXPECT_TRUE(Tensors("mpi") == Tensors("one")) << name;
    std::filesystem::remove_all(scratch_ + "/mpi");
  }
}

// A rank may lose what it writes to at any time: here files may no longer grow.
TEST_F(Processes, OneThatCannotWriteIsNamedAndTheCheckpointBeforeStays) {
  setenv("TMPDIR", "/tmp", 1);
  std::vector<std::string> flags = Small("run", {"--checkpoint-every", "1", "--keep", "1"});
  *(std::find(flags.begin(), flags.end(), "--epochs") + 1) = "100000";
  const std::string script = "trap '' XFSZ; echo $$ >" + scratch_ +
                             "/pid-$OMPI_COMM_WORLD_RANK; exec tools/train/train \"$@\"";
  std::vector<std::string> command{"sh", "-c", script, "train"};
  command.insert(command.end(), flags.begin(), flags.end());
  const Program program("/usr/bin/env", parallel::MpirunCommand(2, command), scratch_);
  while (!io::CheckpointReader::IsOne(scratch_ + "/run/checkpoint") && program.running())
    usleep(10000);
  const rlimit limit{1000, 1000};
  const pid_t rank1 = std::stoi(ReadText(scratch_ + "/pid-1"));
  ASSERT_EQ(prlimit(rank1, RLIMIT_FSIZE, &limit, nullptr), 0);
  const Ended ended = program.Wait();
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("rank 1 on "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("-1.safetensors] cannot write: File too large"), std::string::npos)
      << ended.err;
  EXPECT_FALSE(Tensors("run").empty());
  const int64_t step = io::CheckpointReader(scratch_ + "/run/checkpoint").manifest().step;
  const Ended resumed =
      Mpi(2, {"--resume", scratch_ + "/run", "--max-steps", std::to_string(step + 1)});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

// Writing the second stage's part alone takes three timeouts, in which the first waits for it.
TEST_F(Processes, ASlowDiskEndsNobody) {
  const std::vector<std::string> flags{"--max-steps", "4", "--timeout", "1.5"};
  const Ended fast = Mpi(2, Small("fast", flags));
  ASSERT_EQ(fast.status, 0) << fast.err;
  const auto bytes =
      std::filesystem::file_size(scratch_ + "/fast/checkpoint/weights-1.safetensors");
  const torus::testing::EnvironmentVariable slow("TORUS_SLOW_DISK",
                                                 std::to_string(static_cast<double>(bytes) / 4.5));
  const Ended ended = Mpi(2, Small("slow", flags));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Tensors("slow"), Tensors("fast"));
  EXPECT_TRUE(Json("slow/summary.json")["finished"]);
}

// mpirun tells rank 0 to end, two seconds after rank 1 has died; writing summary, trace and report
// takes three. The last summary is being written when there is a checkpoint and its new file stands
// beside its place.
TEST_F(Processes, OneThatDiesWhileTheSummaryIsWrittenLeavesIt) {
  setenv("TMPDIR", "/tmp", 1);
  const std::vector<std::string> flags = Small("run", {"--max-steps", "2"});
  const std::string script = "echo $$ >" + scratch_ +
                             "/pid-$OMPI_COMM_WORLD_RANK; test $OMPI_COMM_WORLD_RANK = 0 && export "
                             "TORUS_SLOW_DISK=80000; exec tools/train/train \"$@\"";
  std::vector<std::string> command{"sh", "-c", script, "train"};
  command.insert(command.end(), flags.begin(), flags.end());
  std::vector<std::string> mpirun = parallel::MpirunCommand(2, command);
  const auto at = std::ranges::find(mpirun, "-n");
  ASSERT_NE(at, mpirun.end());
  mpirun.insert(at, {"--mca", "odls_base_sigkill_timeout", "2"});
  const Program program("/usr/bin/env", mpirun, scratch_);
  const auto writes = [&] {
    std::error_code none;
    return std::filesystem::exists(scratch_ + "/run/checkpoint", none) &&
           std::filesystem::exists(scratch_ + "/run/summary.json.new", none);
  };
  while (!writes() && program.running()) usleep(1000);
  kill(std::stoi(ReadText(scratch_ + "/pid-1")), SIGKILL);
  const Ended ended = program.Wait();
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("before that it finishes what it is writing"), std::string::npos)
      << ended.err;
  EXPECT_TRUE(Json("run/summary.json")["finished"]);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/run/report.html"));
}

TEST_F(Processes, ADiskThatHangsIsFoundAndTheRankNamed) {
  setenv("TMPDIR", "/tmp", 1);
  const std::vector<std::string> flags = Small("run", {"--timeout", "1"});
  const std::string script =
      "test $OMPI_COMM_WORLD_RANK = 1 && export TORUS_SLOW_DISK=0; exec tools/train/train \"$@\"";
  std::vector<std::string> command{"sh", "-c", script, "train"};
  command.insert(command.end(), flags.begin(), flags.end());
  const Ended ended = Program("/usr/bin/env", parallel::MpirunCommand(2, command), scratch_).Wait();
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("rank 1 shows no progress"), std::string::npos) << ended.err;
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
