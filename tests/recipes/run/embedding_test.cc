// Runs in an application: several at a time, some of which fail or are interrupted, each with its
// own limit, peak, trace and error; and models that several threads evaluate.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>

#include "autograd/node.h"
#include "models/build_model.h"
#include "models/registry.h"
#include "parallel/transport/run_ranks.h"
#include "recipes/evaluate/evaluate.h"
#include "recipes/report/read_trace.h"
#include "recipes/run/run.h"
#include "recipes/run/run_folder.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/rng.h"
#include "tests/recipes/run/image_run.h"
#include "tests/recipes/run/resumed.h"
#include "tests/recipes/run/summary_of.h"
#include "tests/testing/checkpoint_bytes.h"
#include "tests/testing/deadline.h"
#include "tests/testing/error_of.h"

namespace torus::recipes::testing {
namespace {

namespace fs = std::filesystem;
using torus::testing::ErrorOf;

constexpr std::chrono::seconds kLongest{20};  // for threads to be gone

// 4 steps.
RunOptions Options(const std::string& out, int64_t stages, int64_t batch = 24) {
  RunOptions options{.settings = SmallSettings(stages, 1, 2),
                     .out = ::testing::TempDir() + "/embedding_" + out};
  options.settings.epochs = 1;
  options.settings.batch_size = batch;
  fs::remove_all(options.out);
  return options;
}

std::string Bytes(const RunResult& run) {
  return torus::testing::CheckpointBytes(run.folder + "/checkpoint");
}

uint64_t PeakOf(const RunResult& run) {
  return SummaryOf(run)["memory"]["peak_bytes"].get<uint64_t>();
}

int RanksInTrace(const RunResult& run) {
  int most = 0;
  for (const trace::Event& event : ReadChromeTrace(RunFolder{run.folder}.trace()))
    most = std::max(most, event.rank + 1);
  return most;
}

size_t Threads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/task")) ++count;
  return count;
}

// What the process writes to its own streams meanwhile.
std::string OutputOf(const std::function<void()>& work) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  work();
  return ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
}

TEST(Embedding, RunsAtTheSameTimeHaveTheirOwnLimitsPeaksTracesAndErrors) {
  constexpr uint64_t kLarge = uint64_t{1} << 30, kSmall = 8 << 20;
  const size_t limit_before = AllocatorFor({}).stats().limit_bytes;
  const RunResult alone = recipes::Run(Options("alone", 2));
  RunOptions large = Options("large", 1, 90), small = Options("small", 1, 90);
  large.settings.image_size = small.settings.image_size = 64;
  large.memory_limit = kLarge;
  small.memory_limit = kSmall;
  std::future<RunResult> one, other;
  std::string error;
  EXPECT_EQ(OutputOf([&] {
              one = std::async(std::launch::async, [] { return recipes::Run(Options("one", 2)); });
              other = std::async(std::launch::async, [&] { return recipes::Run(large); });
              error = ErrorOf<BrokenEnvironment>([&] { recipes::Run(small); });
              one.wait();
              other.wait();
            }),
            "");
  EXPECT_NE(error.find("out of memory on cpu"), std::string::npos) << error;
  EXPECT_NE(error.find("in this run, whose limit is 8.0 MiB"), std::string::npos) << error;
  const RunResult first = one.get(), second = other.get();
  EXPECT_EQ(Bytes(first), Bytes(alone));
  EXPECT_LT(PeakOf(first), PeakOf(second) / 2);
  EXPECT_LE(PeakOf(second), kLarge);
  EXPECT_GT(PeakOf(second), kSmall);
  EXPECT_EQ(RanksInTrace(first), 2);
  EXPECT_EQ(RanksInTrace(second), 1);
  EXPECT_EQ(AllocatorFor({}).stats().limit_bytes, limit_before);
}

TEST(Embedding, AfterBrokenFilesAndInterruptsTheApplicationGoesOn) {
  const RunResult alone = recipes::Run(Options("whole", 1));
  const size_t threads = Threads();

  RunOptions broken = Options("broken", 1);
  broken.settings.init = ::testing::TempDir() + "/broken.safetensors";
  std::ofstream(broken.settings.init) << "no weights";
  EXPECT_NE(ErrorOf([&] { recipes::Run(broken); }).find("broken.safetensors"), std::string::npos);

  RunOptions interrupted = Options("interrupted", 1);
  std::stop_source stop;
  std::promise<void> began;
  std::thread outside([&] {
    began.get_future().wait();
    stop.request_stop();
  });
  const RunResult part = recipes::Run(interrupted, {.on_step =
                                                        [&](const parallel::StepReport& step) {
                                                          if (step.step != 0) return;
                                                          began.set_value();
                                                          outside.join();
                                                        },
                                                    .stop_token = stop.get_token()});
  EXPECT_FALSE(part.finished);
  EXPECT_LT(part.step, 4);

  EXPECT_THROW(Evaluate({.init = part.folder, .stop_token = stop.get_token()}), Interrupted);

  const RunResult whole = recipes::Run(Resumed(interrupted));
  EXPECT_TRUE(whole.finished);
  EXPECT_EQ(Bytes(whole), Bytes(alone));
  EXPECT_TRUE(torus::testing::Eventually(kLongest, [&] { return Threads() <= threads; }))
      << Threads() << " threads, before " << threads;
}

// The callback does not come back in time; when it does, the run is long over.
TEST(Embedding, ARankThatIsStuckIsAnErrorThatNamesIt) {
  const auto release = std::make_shared<std::promise<void>>();
  const std::shared_future<void> released = release->get_future();
  const size_t threads = Threads();
  RunOptions options = Options("stuck", 2);
  options.timeout = torus::testing::kTimeout;
  options.grace = 2;
  const std::string error = ErrorOf<parallel::StuckRank>(
      [&] { recipes::Run(options, {.on_step = [released](const auto&) { released.wait(); }}); });
  EXPECT_NE(error.find("[ranks] rank 0 did not stop within 2.0 s after: "), std::string::npos)
      << error;
  EXPECT_NE(error.find("rank 0 is in the end of its step, step 0"), std::string::npos) << error;
  EXPECT_TRUE(recipes::Run(Options("after stuck", 2)).finished);
  release->set_value();
  EXPECT_TRUE(torus::testing::Eventually(kLongest, [&] { return Threads() <= threads; }));
}

std::shared_ptr<nn::Sequential> ModelOf(uint64_t seed) {
  return BuildModel(ParseModelSpec("mobilenet_v2:0.1", Models()), 10, seed);
}

std::vector<float> LogitsOf(nn::Sequential& model, uint64_t sample) {
  Tensor images = Empty({2, 32, 32, 3}, DType::kF32);
  FillUniform(images, -1, 1, RandomStream({.layer = HashName("images"), .sample = sample}));
  return ToVector<float>(
      model.ForwardAll({Variable(images)}, {.training = false, .samples = {0, 1}})[0].data());
}

// Two models, of which each is evaluated on three threads.
TEST(Embedding, SeveralThreadsEvaluateSeveralModels) {
  constexpr int kThreads = 6, kRounds = 5;
  const std::vector<std::shared_ptr<nn::Sequential>> models{ModelOf(1), ModelOf(2)};
  const auto logits = [&](int thread) {
    const NoGrad no_grad;
    SetTeamSize(1);
    return LogitsOf(*models[thread % 2], static_cast<uint64_t>(thread));
  };
  std::vector<std::vector<float>> alone, together(kThreads);
  for (int thread = 0; thread < kThreads; ++thread)
    alone.push_back(std::async(std::launch::async, logits, thread).get());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) together[thread] = logits(thread);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, alone);
  EXPECT_NE(alone[0], alone[1]);
}

}  // namespace
}  // namespace torus::recipes::testing
