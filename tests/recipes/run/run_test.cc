// A run as a library call: what it tells, what it returns, and that it stops anywhere in order.
#include "recipes/run/run.h"

#include <algorithm>
#include <fstream>

#include "recipes/run/resumed_run.h"
#include "recipes/run/summary.h"
#include "runtime/error.h"
#include "runtime/io/json.h"
#include "tests/parallel/transport/waited_time.h"
#include "tests/recipes/run/run_options.h"
#include "tests/recipes/run/summary_of.h"
#include "tests/recipes/small_text.h"
#include "tests/testing/checkpoint_bytes.h"

namespace torus::recipes::testing {
namespace {

std::string Bytes(const std::string& run) {
  return torus::testing::CheckpointBytes(run + "/checkpoint");
}

TEST(Run, TellsAndReturnsWhatHappened) {
  std::vector<std::string> told;
  const RunOptions options = Options("told");
  const RunResult result = recipes::Run(
      options, {.on_start =
                    [&](const RunStart& start) {
                      told.push_back(fmt::format("{} {} {} {}", start.unit, start.begin, start.end,
                                                 start.steps_per_epoch));
                      EXPECT_EQ(start.folder, options.out);
                    },
                .on_step =
                    [&](const parallel::StepReport& step) {
                      told.push_back(fmt::format("step {}", step.step));
                    },
                .on_evaluate =
                    [&](const Evaluation& test) {
                      told.push_back(fmt::format("test {} {}", test.step, test.epoch));
                    }});
  EXPECT_EQ(told, (std::vector<std::string>{"images 0 8 4", "step 0", "step 1", "step 2", "step 3",
                                            "test 4 1", "step 4", "step 5", "step 6", "step 7",
                                            "test 8 2"}));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.step, 8);
  EXPECT_EQ(result.folder, options.out);
  ASSERT_TRUE(result.test.has_value());
  EXPECT_EQ(result.test->samples, 20);
  EXPECT_EQ(SummaryOf(result)["test"]["accuracy"], *result.test->accuracy);
}

TEST(Run, EvaluatesEverySoManySteps) {
  RunOptions options = Options("every");
  options.eval_every = 3;
  std::vector<int64_t> steps;
  recipes::Run(options,
               {.on_evaluate = [&](const Evaluation& test) { steps.push_back(test.step); }});
  EXPECT_EQ(steps, (std::vector<int64_t>{3, 6, 8}));
}

// 18 of the 90 images are held out, so an epoch has 3 steps. The test set is for the end.
TEST(Run, ValidatesOnWhatItHoldsOutAndChoosesTheBestByIt) {
  RunOptions options = Options("validates");
  options.settings.validation = 0.2;
  std::vector<Evaluation> seen;
  const RunCallbacks callbacks{
      .on_evaluate = [&](const Evaluation& result) { seen.push_back(result); }};
  const RunResult result = recipes::Run(options, callbacks);
  const auto parts = [&] {
    std::vector<std::string> all;
    for (const Evaluation& e : seen) all.push_back(fmt::format("{} {}", e.part, e.step));
    return all;
  };
  EXPECT_EQ(parts(), (std::vector<std::string>{"validation 3", "validation 6", "test 6"}));
  EXPECT_EQ(seen[0].samples, 18);
  EXPECT_EQ(SummaryOf(result)["validation"]["samples"], 18);
  EXPECT_EQ(SummaryOf(result)["validation"]["loss"], seen[1].loss);
  EXPECT_EQ(result.validation->loss, seen[1].loss);
  EXPECT_EQ(result.test->samples, 20);
  EXPECT_NE(SummaryText(result).find("18 validation images"), std::string::npos);
  const nlohmann::json best = io::ReadJsonObject(RunFolder{options.out}.best() + "/test.json");
  EXPECT_EQ(best["part"], "validation");
  EXPECT_EQ(best["accuracy"], std::max(*seen[0].accuracy, *seen[1].accuracy));
  // Asked for, the test set chooses, and is then tested on each time.
  options.out = Options("tests").out;
  options.settings.best = "test";
  seen.clear();
  recipes::Run(options, callbacks);
  EXPECT_EQ(parts(),
            (std::vector<std::string>{"validation 3", "test 3", "validation 6", "test 6"}));
  EXPECT_EQ(io::ReadJsonObject(RunFolder{options.out}.best() + "/test.json")["part"], "test");
}

// However the batch is laid out over micro-batches, stages and replicas, each image is mixed with
// the same one. With one thread a rank the same list of micro-batches gives the same bits.
TEST(Run, MixesImagesAlikeWhereverTheModelIsCut) {
  const auto weights = [](int64_t stages, const char* name) {
    RunOptions options = Options(name);
    options.settings = SmallSettings(stages, 1, 2);
    Settings& s = options.settings;
    s.epochs = 1;
    s.mixup = s.cutmix = 0.5;
    s.label_smoothing = 0.1;
    recipes::Run(options);
    return Bytes(options.out);
  };
  const std::string one = weights(1, "mixed one");
  EXPECT_TRUE(one == weights(2, "mixed two"));
}

TEST(Run, WithoutAPartToChooseOnNoCheckpointIsTheBest) {
  const RunOptions options = Options("no best");
  recipes::Run(options);
  EXPECT_FALSE(std::filesystem::exists(RunFolder{options.out}.best()));
}

// 10 steps an epoch of a small GPT, which has no running statistics.
RunOptions TextOptions(const std::string& out) {
  RunOptions options = Options(out);
  Settings& s = options.settings;
  s = {};
  s.model = "gpt-char:1";
  s.data = "text";
  s.data_dir = ::testing::TempDir() + "/patience.txt";
  WriteLetters(s.data_dir, 500);
  s.tokenizer = "bytes";
  s.length = 8;
  s.epoch_size = 20;
  s.batch_size = 2;
  s.micro_batches = s.threads = 1;
  s.validation = 0.1;
  options.eval_every = 2;
  return options;
}

// The rate is so small that no weight moves, so no evaluation is better than the first: patience
// ends after step 6.
RunOptions StillOptions(const std::string& out) {
  RunOptions options = TextOptions(out);
  options.settings.lr = 1e-30;
  options.settings.weight_decay = 0;
  options.settings.patience = 2;
  return options;
}

TEST(Run, EndsWhenPatienceDoes) {
  RunOptions options = StillOptions("patience");
  std::vector<std::string> seen, said;
  const RunCallbacks callbacks{
      .on_evaluate =
          [&](const Evaluation& e) { seen.push_back(fmt::format("{} {}", e.part, e.step)); },
      .on_message = [&](const std::string& line) { said.push_back(line); }};
  const std::vector<std::string> expected{"validation 2", "validation 4", "validation 6", "test 6"};
  const RunResult result = recipes::Run(options, callbacks);
  EXPECT_EQ(seen, expected);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.step, 6);
  EXPECT_EQ(SummaryOf(result)["early_stop"], 2);
  EXPECT_NE(SummaryText(result).find("early stop      after step 6"), std::string::npos);
  // One that was stopped in between counts on.
  RunOptions stopped = options;
  stopped.out = StillOptions("patience stopped").out;
  int64_t steps = 0;
  seen.clear();
  recipes::Run(stopped, {.on_step = [&](const parallel::StepReport& s) { steps = s.step + 1; },
                         .on_evaluate = callbacks.on_evaluate,
                         .stop = [&] { return steps >= 5; }});
  recipes::Run(Resumed(stopped), callbacks);
  EXPECT_EQ(seen, expected);
  EXPECT_TRUE(Bytes(stopped.out) == Bytes(options.out));
  // At its end there is nothing to do, but for more patience.
  seen.clear(), said.clear();
  EXPECT_EQ(SummaryOf(recipes::Run(Resumed(options), callbacks))["early_stop"], 2);
  EXPECT_TRUE(seen.empty());
  EXPECT_NE(said.back().find("a larger --patience continues"), std::string::npos) << said.back();
  options.settings.patience = 4;
  EXPECT_EQ(recipes::Run(Resumed(options), callbacks).step, 10);
}

// Resumes a run that was stopped in its evaluation after step 6.
struct AfterStop {
  explicit AfterStop(const RunOptions& options) {
    int64_t steps = 0;
    recipes::Run(options, {.on_step = [&](const parallel::StepReport& s) { steps = s.step + 1; },
                           .stop = [&] { return steps >= 6; }});
    result = recipes::Run(Resumed(options), {.on_message = [&](const std::string& line) {
                            said += line.starts_with("training ends early") ? 1 : 0;
                          }});
  }
  RunResult result;
  int said = 0;
};

TEST(Run, SaysOnceThatPatienceIsAtItsEnd) {
  const AfterStop run(StillOptions("patience once"));
  EXPECT_TRUE(run.result.finished);
  EXPECT_EQ(run.result.step, 6);
  EXPECT_EQ(run.said, 1);
}

TEST(Run, IsNotEndedEarlyByPatienceAtItsLastStep) {
  RunOptions options = StillOptions("patience last");
  options.max_steps = 6;
  const AfterStop run(options);
  EXPECT_TRUE(run.result.finished);
  EXPECT_EQ(run.said, 0);
  EXPECT_EQ(SummaryOf(run.result)["early_stop"], nullptr);
}

// A loss on the test set that cannot be reached is no measure for the validation part, whose
// patience begins where it does.
TEST(Run, ComparesNoScoresOfDifferentParts) {
  RunOptions options = StillOptions("other part");
  options.settings.best = "test";
  options.settings.patience = 0;
  options.max_steps = 6;
  recipes::Run(options);
  const std::string file = RunFolder{options.out}.best() + "/test.json";
  nlohmann::json best = io::ReadJsonObject(file);
  EXPECT_EQ(best["part"], "test");
  best["loss"] = -1e9;
  std::ofstream(file) << best;
  options.max_steps = 0;
  options.settings.best = "validation";
  options.settings.patience = 2;
  const RunResult result = recipes::Run(Resumed(options));
  EXPECT_EQ(result.step, 12);
  best = io::ReadJsonObject(file);
  EXPECT_EQ(best["part"], "validation");
  EXPECT_EQ(best["step"], 8);
}

// It learns a text of period 26, so of any two evaluations in a row one is the best so far.
TEST(Run, GoesOnWhileItGetsBetter) {
  RunOptions options = TextOptions("no patience");
  options.settings.lr = 1e-3;
  options.settings.optimizer = "adamw";
  options.settings.patience = 2;
  options.eval_every = 5;
  const RunResult result = recipes::Run(options);
  EXPECT_EQ(SummaryOf(result)["early_stop"], nullptr);
  EXPECT_EQ(result.step, 30);
}

TEST(Run, IsResumedWithWhatItHoldsOut) {
  RunOptions whole = Options("validates whole"), part = Options("validates part");
  whole.settings.validation = part.settings.validation = 0.2;
  recipes::Run(whole);
  part.max_steps = 4;
  recipes::Run(part);
  part.max_steps = 0;
  part.settings = LoadRun(part.out).settings;
  recipes::Run(Resumed(part));
  EXPECT_TRUE(Bytes(part.out) == Bytes(whole.out));
}

// Stopped before every single thing that it does, a run goes on in the bits of one that never
// stopped: `asked` is how often it may ask before it is told to stop.
TEST(Run, StopsAnywhereInOrder) {
  RunOptions whole = Options("whole");
  whole.settings.batch_size = 10;  // 9 steps an epoch, 2 batches of the test set
  whole.settings.epochs = 1;
  const RunResult expected = recipes::Run(whole);
  bool stopped_in_evaluation = false;
  for (int most = 7; most < 14; ++most) {
    RunOptions options = Options("part");
    options.settings = whole.settings;
    int asked = 0;
    const RunResult part = recipes::Run(options, {.stop = [&] { return ++asked > most; }});
    if (part.finished) break;
    stopped_in_evaluation |= part.step == 9;
    EXPECT_EQ(SummaryOf(part)["finished"], false);
    EXPECT_FALSE(part.test.has_value());
    EXPECT_EQ(SummaryOf(part)["test"], nullptr);
    const RunResult rest = recipes::Run(Resumed(options));
    EXPECT_TRUE(rest.finished);
    // Those of a run that had only its evaluation to do are of the steps before.
    EXPECT_EQ(SummaryOf(rest)["steps_here"], part.step == 9 ? 9 : 9 - part.step);
    EXPECT_EQ(SummaryOf(rest)["test"], SummaryOf(expected)["test"]);
    EXPECT_TRUE(Bytes(options.out) == Bytes(whole.out)) << most;
  }
  EXPECT_TRUE(stopped_in_evaluation);
}

TEST(Run, SlowLinksChangeTimesAlone) {
  RunOptions fast = Options("fast"), slow = Options("slow");
  fast.max_steps = slow.max_steps = 2;
  slow.settings.links = {"60ms,100Mbps", "1>0:40ms,1Gbps"};
  const parallel::testing::WaitedTime time;
  slow.link_time = &time;
  const RunResult fast_result = recipes::Run(fast), slow_result = recipes::Run(slow);
  EXPECT_EQ(slow_result.test->loss, fast_result.test->loss);
  // In each step an activation goes there, and then its gradient back, before the next step. The
  // links alone move this clock.
  EXPECT_GE(time.Now(), 2 * (0.06 + 0.04));
  EXPECT_EQ(SummaryOf(slow_result)["settings"]["link"], slow.settings.links);
  EXPECT_EQ(LoadRun(slow.out).settings.links, slow.settings.links);
  EXPECT_TRUE(Bytes(slow.out) == Bytes(fast.out));
  slow.settings.links = {"0-2:5ms,100Mbps"};
  slow.out = Options("refused").out;
  try {
    recipes::Run(slow);
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("names rank 2, but there are 2 ranks"),
              std::string::npos)
        << error.what();
  }
}

TEST(Run, EvaluatesAlone) {
  const RunOptions options = Options("alone");
  const RunResult trained = recipes::Run(options);
  const std::optional<Evaluation> test = EvaluateRun(Resumed(options));
  ASSERT_TRUE(test.has_value());
  EXPECT_EQ(test->loss, trained.test->loss);
  EXPECT_FALSE(EvaluateRun(Resumed(options), {.stop = [] { return true; }}).has_value());
}

// The cache is of the training images.
TEST(Run, EvaluatesWithoutACacheOfImages) {
  namespace fs = std::filesystem;
  RunOptions options = Options("cached");
  Settings& s = options.settings;
  s.data = "image-folder";
  s.data_dir = ::testing::TempDir() + "/cached_images";
  s.image_cache = ::testing::TempDir() + "/caches";
  s.batch_size = 8;
  s.epochs = 1;
  s.image_size = 32;
  fs::remove_all(s.image_cache);
  for (const char* part : {"train", "test"})
    for (const char* label : {"a", "b"}) {
      const std::string folder = fmt::format("{}/{}/{}", s.data_dir, part, label);
      fs::create_directories(folder);
      for (int i = 0; i < 4; ++i)
        std::ofstream(fmt::format("{}/{}.pgm", folder, i))
            << "P5 40 50 255\n" + std::string(40 * 50, static_cast<char>('5' + i));
    }
  const RunResult trained = recipes::Run(options);
  EXPECT_TRUE(fs::exists(s.image_cache));
  fs::remove_all(s.image_cache);
  const std::optional<Evaluation> test = EvaluateRun(Resumed(options));
  ASSERT_TRUE(test.has_value());
  EXPECT_EQ(test->loss, trained.test->loss);
  EXPECT_FALSE(fs::exists(s.image_cache));
}

}  // namespace
}  // namespace torus::recipes::testing
