// tools/train end to end, on a small model and a few images.
#include "tests/testing/program.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "runtime/on_device.h"

namespace torus::tools::testing {
namespace {

using Flags = std::vector<std::string>;

TEST_F(ProgramTest, LeavesWhatItPromises) {
  const Ended ended = Train(Small("run", {"--replicas", "2", "--batch-size", "24"}));
  ASSERT_EQ(ended.status, 2) << "a flag given twice must be refused";
  const Ended good = Train(Small("run", {"--replicas", "2"}));
  ASSERT_EQ(good.status, 0) << good.err;
  const nlohmann::json summary = Json("run/summary.json");
  EXPECT_EQ(summary["steps"], 8);
  EXPECT_EQ(summary["samples"], 180);
  EXPECT_TRUE(summary["finished"]);
  EXPECT_EQ(summary["test"]["samples"], 20);
  EXPECT_EQ(summary["ranks"].size(), 4u);
  EXPECT_DOUBLE_EQ(summary["bubble"]["ideal"].get<double>(), 1.0 / 3);
  for (const nlohmann::json& link : summary["links"]) {
    const auto sent = link["sent_bytes"].get<int64_t>();
    const auto float32 = link["float32_bytes"].get<int64_t>();
    // 8 bits a value, and the table of each tensor's buckets.
    if (link["what"] == "all-reduce") {
      EXPECT_EQ(sent, float32);
    } else {
      EXPECT_LT(sent, float32 / 3);
    }
  }
  EXPECT_EQ(Losses("run").size(), 8u);
  const nlohmann::json trace = Json("run/trace.json");
  EXPECT_GT(trace["traceEvents"].size(), 50u);
  const std::string report = ReadText(scratch_ + "/run/report.html");
  EXPECT_NE(report.find("id=\"data\""), std::string::npos);
  EXPECT_EQ(report.find("src="), std::string::npos) << "the page must carry all that it shows";
  EXPECT_NE(good.out.find("accuracy"), std::string::npos);
  EXPECT_NE(good.out.find("bubble"), std::string::npos);
  EXPECT_NE(good.out.find("memory"), std::string::npos);
}

TEST_F(ProgramTest, AnEvaluationThatIsNotFiniteIsNoSuccess) {
  const Flags wild = {"--lr", "1e30", "--warmup", "0", "--max-steps", "1", "--codec", "none"};
  const Ended ended = Train(Small("run", wild));
  ExpectOneLine(ended, 2, "so there is no score; try a smaller --lr");
  EXPECT_EQ(ended.out.find("accuracy"), std::string::npos) << ended.out;
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/run/best"));
  ExpectOneLine(Train({"--resume", scratch_ + "/run", "--eval-only"}), 2, "there is no score");
}

// However little address space there is, the program ends by itself, with one line or
// its work done. CUDA's libraries take up to 700 MiB; below that, the loader ends the program.
#ifndef TORUS_SANITIZER  // whose shadow memory needs all of it
TEST_F(ProgramTest, LittleAddressSpaceIsAnErrorOfOneLine) {
  int status = -1;
  for (const size_t mib : {80, 100, 130, 160, 200, 250, 320, 450, 700, 4000}) {
    SCOPED_TRACE(fmt::format("{} MiB", mib));
    const Flags flags = Small(fmt::format("run{}", mib),
                              {"--max-steps", "1", "--image-size", "64", "--threads", "2"});
    const Ended ended = Start(flags, mib << 20).Wait();
    status = ended.status;
    if (kHasCuda && ended.err.find("error while loading shared libraries") != std::string::npos)
      continue;
    EXPECT_TRUE(mib > 80 || status == 1);
    if (status != 0) ExpectOneLine(ended, 1, "train: ");
  }
  EXPECT_EQ(status, 0);
}
#endif

TEST_F(ProgramTest, EveryCutGivesTheSameBits) {
  const Flags common = {"--codec", "none", "--augment", "crop-flip", "--max-steps", "6"};
  const auto run = [&](const std::string& name, Flags more) {
    more.insert(more.end(), common.begin(), common.end());
    const Ended ended = Train(Small(name, more));
    ASSERT_EQ(ended.status, 0) << ended.err;
  };
  run("one", {"--stages", "1", "--threads", "1"});
  run("two", {"--stages", "2", "--threads", "2"});
  run("three", {"--cut", "1,18", "--threads", "3"});
  EXPECT_EQ(Losses("one").size(), 6u);
  EXPECT_EQ(Losses("one"), Losses("two"));
  EXPECT_EQ(Losses("one"), Losses("three"));
  EXPECT_EQ(Tensors("one"), Tensors("two"));
  EXPECT_EQ(Tensors("one"), Tensors("three"));
}

// Batch norm, dropout, clipping and averages on; four micro-batches in all, the last batch smaller.
TEST_F(ProgramTest, ReproducibleGivesTheSameBitsForAnyReplicas) {
  const auto layout = [&](const std::string& name, const char* stages, const char* replicas,
                          const char* micro_batches, const char* threads, Flags more) {
    const Flags common = {"--stages",    stages,      "--replicas", replicas, "--threads",
                          threads,       "--augment", "crop-flip",  "--ema",  "0.9",
                          "--clip-norm", "1",         "--codec",    "none",   "--reproducible"};
    more.insert(more.end(), common.begin(), common.end());
    Flags flags = Small(name, more);
    *(std::find(flags.begin(), flags.end(), "--micro-batches") + 1) = micro_batches;
    return flags;
  };
  const auto expect_as_one = [&](const std::string& run) {
    EXPECT_EQ(Losses("one"), Losses(run));
    EXPECT_TRUE(Tensors("one") == Tensors(run)) << run;
    EXPECT_EQ(Json("one/summary.json")["test"], Json(run + "/summary.json")["test"]);
  };
  ASSERT_EQ(Train(layout("one", "1", "1", "4", "1", {})).status, 0);
  ASSERT_EQ(Train(layout("four", "1", "4", "1", "4", {})).status, 0);
  ASSERT_EQ(Train(layout("part", "2", "2", "2", "4", {"--max-steps", "3"})).status, 0);
  expect_as_one("four");
  const auto resume = [&](const Flags& more) {
    Flags flags{"--resume", scratch_ + "/part", "--threads", "3"};
    flags.insert(flags.end(), more.begin(), more.end());
    return Train(flags);
  };
  ExpectOneLine(resume({"--replicas", "3", "--stages", "1"}), 2,
                "keeps the list of 4 micro-batches with which the run began");
  const Ended resumed = resume({"--replicas", "1", "--stages", "3", "--schedule", "1f1b"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  expect_as_one("part");
  ExpectOneLine(Train(layout("bad", "1", "2", "3", "2", {})), 2,
                "--reproducible needs 1, 2, 4, 8, ... micro-batches of each replica, got 3");
}

// 90 images in batches of 24 and one of 18; in batches of 22 and one of 2.
TEST_F(ProgramTest, SyncBatchNormIsOfAllReplicas) {
  const auto run = [&](const std::string& name, Flags more) {
    const Flags common = {"--replicas", "2", "--max-steps", "5", "--threads", "2", "--stages", "1"};
    more.insert(more.end(), common.begin(), common.end());
    return Train(Small(name, more));
  };
  ASSERT_EQ(run("own", {}).status, 0);
  ASSERT_EQ(run("all", {"--sync-batch-norm"}).status, 0);
  ASSERT_EQ(run("zero1", {"--sync-batch-norm", "--strategy", "zero1"}).status, 0);
  EXPECT_NE(Losses("own"), Losses("all"));
  EXPECT_EQ(Losses("all"), Losses("zero1"));
  EXPECT_EQ(Tensors("all"), Tensors("zero1"));
  EXPECT_TRUE(Json("all/summary.json")["settings"]["sync-batch-norm"]);
  const Ended resumed = Train({"--resume", scratch_ + "/all", "--replicas", "1"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  Flags few = Small("few", {"--replicas", "2", "--sync-batch-norm"});
  *(std::find(few.begin(), few.end(), "--batch-size") + 1) = "22";
  ExpectOneLine(Train(few), 2,
                "--sync-batch-norm needs samples of each replica in each micro-batch; 90 training "
                "examples in batches of 22 leave a last one of 2, and in 4 micro-batches some have "
                "none");
  few.push_back("--drop-last");
  EXPECT_EQ(Train(few).status, 0);
  Flags vgg = Small("vgg", {"--sync-batch-norm", "--replicas", "2", "--image-size", "32"});
  *(std::find(vgg.begin(), vgg.end(), "--model") + 1) = "vgg11";
  ExpectOneLine(Train(vgg), 2,
                "--sync-batch-norm needs a model with batch norm, got --model vgg11");
}

TEST_F(ProgramTest, MemoryOptionsChangeNoBit) {
  const Flags common = {"--codec", "none", "--max-steps", "3", "--clip-norm", "1", "--ema", "0.9"};
  const auto run = [&](const std::string& name, Flags more) {
    more.insert(more.end(), common.begin(), common.end());
    const Ended ended = Train(Small(name, more));
    ASSERT_EQ(ended.status, 0) << ended.err;
  };
  run("kept", {});
  Flags more = {"--recompute", "0-17", "--accumulate", "2"};
  more.insert(more.end(), common.begin(), common.end());
  Flags rounds = Small("rounds", more);
  rounds[std::find(rounds.begin(), rounds.end(), "--micro-batches") - rounds.begin() + 1] = "1";
  ASSERT_EQ(Train(rounds).status, 0);
  EXPECT_EQ(Losses("kept"), Losses("rounds"));
  EXPECT_EQ(Tensors("kept"), Tensors("rounds"));
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/kept/checkpoint/averages-0.safetensors"));
  ExpectOneLine(Train(Small("bad", {"--recompute", "0-99"})), 2, "--recompute");
}

// `for s in 1 2 3; do train --seed $s & done`: nobody names a folder, and all begin in one second.
TEST_F(ProgramTest, RunsThatBeginTogetherHaveFoldersOfTheirOwn) {
  setenv("BUILD_WORKING_DIRECTORY", scratch_.c_str(), 1);
  std::vector<Program> programs;
  for (int seed = 1; seed <= 3; ++seed) {
    Flags flags = Small("", {"--seed", std::to_string(seed), "--max-steps", "2"});
    flags.erase(std::find(flags.begin(), flags.end(), "--out"),
                std::find(flags.begin(), flags.end(), "--epochs"));
    const std::string own = scratch_ + "/" + std::to_string(seed);
    std::filesystem::create_directory(own);
    programs.emplace_back("tools/train/train", flags, own);
  }
  for (const Program& program : programs) {
    const Ended ended = program.Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
  }
  unsetenv("BUILD_WORKING_DIRECTORY");
  std::set<int> seeds;
  for (const auto& run : std::filesystem::directory_iterator(scratch_ + "/runs")) {
    const nlohmann::json summary =
        nlohmann::json::parse(ReadText(run.path().string() + "/summary.json"));
    seeds.insert(summary["settings"]["seed"].get<int>());
    EXPECT_FALSE(std::filesystem::exists(run.path() / ".lock")) << run.path();
  }
  EXPECT_EQ(seeds, (std::set<int>{1, 2, 3}));
}

TEST_F(ProgramTest, AFolderBelongsToOneRun) {
  Flags flags = Small("run", {"--checkpoint-every", "1"});
  flags[std::find(flags.begin(), flags.end(), "--epochs") - flags.begin() + 1] = "1000";
  const Program first = Start(flags);
  while (first.running() && Losses("run").size() < 3)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::string other = scratch_ + "/other";
  std::filesystem::create_directory(other);
  const auto second = [&](const Flags& more) {
    return Program("tools/train/train", more, other).Wait();
  };
  // The process that holds it is named, whether it is begun anew or gone on with.
  const std::string holder = "is in use by process " + std::to_string(first.pid());
  ExpectOneLine(second(flags), 2, "[" + scratch_ + "/run] " + holder);
  ExpectOneLine(second({"--resume", scratch_ + "/run"}), 2, "[" + scratch_ + "/run] " + holder);
  // Who only looks is let in.
  const Flags look = {"--resume", scratch_ + "/run", "--describe"};
  EXPECT_EQ(second(look).status, 0);
  EXPECT_EQ(second({"--resume", scratch_ + "/run", "--eval-only"}).status, 0);
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Wait().status, 128 + SIGTERM);
  EXPECT_EQ(Json("run/summary.json")["steps"], Losses("run").size());
  // A killed holder holds nothing.
  const Program killed = Start({"--resume", scratch_ + "/run"});
  const size_t before = Losses("run").size();
  while (killed.running() && Losses("run").size() < before + 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  killed.Signal(SIGKILL);
  EXPECT_EQ(killed.Wait().status, 128 + SIGKILL);
  EXPECT_EQ(Train({"--resume", scratch_ + "/run", "--max-steps", "3"}).status, 0);
}

TEST_F(ProgramTest, KeepsToItsMemoryLimit) {
  const Ended small = Train(Small("small", {"--memory-limit", "1MB"}));
  EXPECT_EQ(small.status, 1);
  EXPECT_NE(small.err.find("memory"), std::string::npos) << small.err;
  const Ended step = Train(Small("step", {"--memory-limit", "12MB", "--image-size", "64"}));
  for (const char* part : {"rank ", "stage ", "step 0", "out of memory on cpu"})
    ExpectOneLine(step, 1, part);
  EXPECT_EQ(Train(Small("large", {"--memory-limit", "1GB", "--max-steps", "1"})).status, 0);
}

TEST_F(ProgramTest, MeasuredCutIsStored) {
  ASSERT_EQ(Train(Small("run", {"--cut", "auto", "--max-steps", "1"})).status, 0);
  const nlohmann::json stored = Json("run/checkpoint/settings.json")["cut"];
  EXPECT_EQ(stored["cuts"].size(), 1u);
  EXPECT_EQ(stored["measured_seconds"].size(), 21u);
  EXPECT_GT(stored["predicted"]["seconds"], 0);
  EXPECT_EQ(stored["predicted"]["peak_bytes"].size(), 2u);
  EXPECT_EQ(Json("run/summary.json")["predicted"], stored["predicted"]);
  EXPECT_GT(Json("run/summary.json")["step_seconds"], 0);
  ASSERT_EQ(Train({"--resume", scratch_ + "/run", "--max-steps", "2"}).status, 0);
  EXPECT_EQ(Json("run/checkpoint/settings.json")["cut"], stored);
}

TEST_F(ProgramTest, EveryMistakeIsOneLine) {
  ExpectOneLine(Train({"--lr", "0"}), 2, "--lr");
  ExpectOneLine(Train({"--nonsense"}), 2, "--nonsense");
  ExpectOneLine(Train({"--data-dir", scratch_ + "/nowhere"}), 2, "nowhere");
  ExpectOneLine(Train(Small("a", {"--stages", "30"})), 2, "--stages 30");
  ExpectOneLine(Train(Small("a", {"--cut", "40"})), 2, "40");
  ExpectOneLine(Train(Small("a", {"--cut", "auto:fast"})), 2, "auto:50GFLOPS");
  ExpectOneLine(Train(Small("a", {"--rank-memory", "1MB"})), 2, "--rank-memory");
  ExpectOneLine(
      Train(Small("a", {"--stages", "2", "--cut", "auto:1GFLOPS", "--rank-memory", "1KB"})), 2,
      "memory");
  ExpectOneLine(Train(Small("a", {"--warmup", "8"})), 2, "--warmup");
  ExpectOneLine(Train(Small("a", {"--init", scratch_ + "/none.safetensors"})), 2,
                "none.safetensors");
  std::ofstream(scratch_ + "/file") << "no folder";
  ExpectOneLine(Train(Small("file/run")), 2, "file");
  std::ofstream(scratch_ + "/data/train-labels-idx1-ubyte") << "damaged";
  ExpectOneLine(Train(Small("a")), 2, "train-labels-idx1-ubyte");
}

TEST_F(ProgramTest, ALogThatNoDiskTakesDoesNotEndARun) {
  std::filesystem::create_symlink("/dev/full", scratch_ + "/stdout");
  int status = 0;
  waitpid(Start(Small("run", {"--max-steps", "2"})).pid(), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(ReadText(scratch_ + "/stderr"),
            "train: cannot write all of its output: No space left on device\n");
  EXPECT_TRUE(Json("run/summary.json")["finished"]);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/run/checkpoint"));
}

TEST_F(ProgramTest, DescribeNumbersTheLayers) {
  const Ended ended = Train(Small("run", {"--describe", "--cut", "1,18"}));
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* text : {"features.18", "classifier", "stage 2: layers 18 to 20", "F0 F1"})
    EXPECT_NE(ended.out.find(text), std::string::npos) << text << " is not in\n" << ended.out;
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/run"));
}

}  // namespace
}  // namespace torus::tools::testing
