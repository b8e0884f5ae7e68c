// A whole run on GPUs, with and without NCCL. Skips where there are no two: run it with
// --config=emulated_gpu.
#include <algorithm>
#include <filesystem>
#include <future>

#include "parallel/transport/run_ranks.h"
#include "recipes/run/gpu_world.h"
#include "recipes/run/run.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/stream.h"
#include "tests/parallel/transport/nccl/emulated_nccl.h"
#include "tests/recipes/run/image_run.h"
#include "tests/recipes/run/summary_of.h"
#include "tests/testing/error_of.h"

namespace torus::recipes::testing {
namespace {

class GpuRun : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = parallel::NcclForTests(2);
    if (library_ == nullptr) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }

  // Three steps and no evaluation: emulated images are slow.
  struct Outcome {
    std::vector<double> losses;
    std::string said;
    nlohmann::json summary;
  };
  Outcome RunSteps(const Settings& settings, const std::string& graphs = "auto") {
    Outcome outcome;
    const std::string out = ::testing::TempDir() + "/gpu_run";
    std::filesystem::remove_all(out);
    int64_t steps = 0;
    RunOptions options{.settings = settings, .out = out, .timeout = 600};
    options.cuda_graphs = graphs;
    options.nccl = library_.get();
    const RunResult result = recipes::Run(
        options, {.on_step =
                      [&](const parallel::StepReport& report) {
                        outcome.losses.push_back(report.loss);
                        ++steps;
                      },
                  .on_message = [&](const std::string& line) { outcome.said += line + "\n"; },
                  .stop = [&] { return steps >= 2; }});
    outcome.summary = SummaryOf(result);
    return outcome;
  }

  static Settings GpuSettings(int64_t stages, int64_t replicas, const std::string& links) {
    Settings s = SmallSettings(stages, replicas, 2);
    s.batch_size = 8;
    s.drop_last = true;
    s.device = "cuda";
    s.gpu_links = links;
    return s;
  }

  std::unique_ptr<parallel::NcclLibrary> library_;
};

void ExpectSaid(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << part << " in: " << said;
}

TEST_F(GpuRun, OfReplicasIsLinkedByNccl) {
  const Outcome nccl = RunSteps(GpuSettings(1, 2, "auto"));
  ExpectSaid(nccl.said, "2 ranks on 2 GPUs: NCCL moves their memory; NCCL sums the replicas'");
  const Outcome copied = RunSteps(GpuSettings(1, 2, "copy"));
  ExpectSaid(copied.said, "their memory is copied, not moved by NCCL (as asked for)");
  ExpectSaid(copied.said, "summed in the CPU's memory");
  EXPECT_EQ(nccl.losses, copied.losses);  // two terms have one sum
}

// The ranks of GPUs are threads of a world made here, which waits for a stuck one as long as it is
// told.
TEST_F(GpuRun, WaitsForAStuckRankForTheGivenTime) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future();
  const GpuWorld gpus(nullptr, GpuSettings(1, 2, "copy"), {.grace = 1, .nccl = library_.get()});
  const std::string error = torus::testing::ErrorOf<parallel::StuckRank>([&] {
    gpus.world()->Run([released](parallel::Transport& transport) {
      if (transport.rank() == 1) throw BadInput("[test] injected");
      released.wait();
    });
  });
  EXPECT_NE(error.find("did not stop within 1.0 s"), std::string::npos) << error;
  release.set_value();
}

// The CPU's memory holds batches, not the run.
TEST_F(GpuRun, HasTheGpusMemoryAsItsFigures) {
  // The allocators count since the process began: peaks of the tests before are not this run's.
  for (int gpu = 0; gpu < GpuCount(); ++gpu) AllocatorFor({DeviceKind::kCuda, gpu}).ResetPeak();
  const Outcome run = RunSteps(GpuSettings(1, 2, "copy"));
  uint64_t peaks = 0;
  for (int gpu = 0; gpu < GpuCount(); ++gpu)
    peaks += AllocatorFor({DeviceKind::kCuda, gpu}).stats().peak_bytes;
  // The run's own bytes: without what blocks are rounded up by, and of both GPUs at one time.
  const auto own = run.summary["memory"]["peak_bytes"].get<uint64_t>();
  EXPECT_LE(own, peaks);
  EXPECT_GT(own, peaks / 2);
}

TEST_F(GpuRun, OfStagesIsLinkedByNccl) {
  const Outcome nccl = RunSteps(GpuSettings(2, 1, "nccl"));
  ExpectSaid(nccl.said, "2 ranks on 2 GPUs: NCCL moves their memory\n");
  EXPECT_EQ(nccl.losses, RunSteps(GpuSettings(2, 1, "copy")).losses);
}

TEST_F(GpuRun, OfMoreRanksThanGpusRefusesNccl) {
  EXPECT_THROW(RunSteps(GpuSettings(1, 4, "nccl")), BadInput);
}

TEST_F(GpuRun, ReproduciblySumsInTheCpusMemory) {
  Settings settings = GpuSettings(1, 2, "auto");
  settings.reproducible = true;
  ExpectSaid(RunSteps(settings).said, "summed in the CPU's memory");
}

TEST_F(GpuRun, OfOneRankLaunchesItsStepsAsGraphs) {
  const Outcome off = RunSteps(GpuSettings(1, 1, "auto"), "off");
  ASSERT_EQ(off.losses.size(), 3);
  for (const char* launches : {"graph_steps", "graph_checks", "graph_updates"})
    EXPECT_EQ(off.summary[launches], 0) << launches;
  for (const char* graphs : {"auto", "on"}) {
    const Outcome launched = RunSteps(GpuSettings(1, 1, "auto"), graphs);
    EXPECT_EQ(launched.losses, off.losses);
    EXPECT_EQ(launched.summary["graph_steps"], 2) << "all but the first";
    EXPECT_EQ(launched.summary["graph_checks"], 1) << "that of the third";
    EXPECT_EQ(launched.summary["graph_updates"], 1) << "that of the third";
    EXPECT_EQ(launched.summary["why_no_graph"], "");
  }
}

TEST_F(GpuRun, OfReplicasLaunchesGraphsWhereTheyAreAskedFor) {
  const Outcome beside = RunSteps(GpuSettings(1, 2, "auto"));
  EXPECT_EQ(beside.summary["graph_steps"], 0);
  const Outcome launched = RunSteps(GpuSettings(1, 2, "auto"), "on");
  EXPECT_EQ(launched.losses, beside.losses);
  EXPECT_EQ(launched.summary["graph_steps"], 2);
  EXPECT_EQ(launched.summary["graph_updates"], 1) << "that of the third";
}

// Whatever cut the times give, the losses are those of one stage.
TEST_F(GpuRun, MayBeCutByMeasuredTimes) {
  Settings settings = GpuSettings(2, 1, "copy");
  const std::vector<double> losses = RunSteps(settings).losses;
  for (const char* codec : {"none", "sortq:8"}) {
    settings.cut = "auto";
    settings.codec = codec;
    const Outcome run = RunSteps(settings);
    EXPECT_EQ(run.summary["cuts"].size(), 1u);
    if (settings.codec == "none") {
      EXPECT_EQ(run.losses, losses);
    }
  }
  settings.cut = "auto:50GFLOPS";
  settings.codec = "none";
  EXPECT_EQ(RunSteps(settings).losses, losses);
}

TEST_F(GpuRun, OfACutModelHasNoGraphs) {
  EXPECT_THROW(RunSteps(GpuSettings(2, 1, "auto"), "on"), BadInput);
  Settings settings = GpuSettings(1, 1, "auto");
  settings.cut = "5";  // which makes two stages
  EXPECT_THROW(RunSteps(settings, "on"), BadInput);
  settings = GpuSettings(1, 2, "auto");
  settings.sync_batch_norm = true;
  EXPECT_THROW(RunSteps(settings, "on"), BadInput);
}

}  // namespace
}  // namespace torus::recipes::testing
