// What a run leaves in its folder, however it ends: checkpoints to go back to, and all that there
// is of the rest.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "parallel/trainer/checkpoint.h"
#include "recipes/run/earlier_checkpoints.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/summary.h"
#include "tests/recipes/run/image_run.h"
#include "tests/recipes/run/summary_of.h"
#include "tests/testing/checkpoint_bytes.h"
#include "tests/testing/error_of.h"

namespace torus::recipes::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Two epochs of 4 steps; a checkpoint after every step.
class Checkpoints : public ::testing::Test {
 protected:
  void SetUp() override {
    run_.path = ::testing::TempDir() + "/" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(run_.path);
    options_ = {.settings = SmallSettings(2, 1, 2), .out = run_.path, .checkpoint_every = 1};
    options_.settings.epochs = 2;
    options_.settings.best = "test";
  }
  RunOptions Resumed(const std::string& from) const {
    RunOptions options = options_;
    options.out = "";
    options.resume = from;
    return options;
  }
  int64_t StepIn(const std::string& checkpoint) const {
    return parallel::LoadCheckpoint(checkpoint).step;
  }
  std::string Text(const std::string& file) const {
    std::ifstream in(run_.path + "/" + file, std::ios::binary);
    return (std::stringstream() << in.rdbuf()).str();
  }
  std::string Weights() const {
    return torus::testing::CheckpointBytes(run_.checkpoint(), {io::kWeights});
  }
  Json Summary() const { return Json::parse(Text("summary.json")); }

  RunFolder run_;
  RunOptions options_;
};

TEST_F(Checkpoints, TheLatestAndTheBestAreKept) {
  options_.keep = 3;
  options_.eval_every = 2;
  std::vector<Evaluation> tests;
  recipes::Run(options_, {.on_evaluate = [&](const Evaluation& test) { tests.push_back(test); }});
  EXPECT_EQ(StepIn(run_.checkpoint()), 8);
  EXPECT_EQ(EarlierSteps(run_), (std::vector<int64_t>{7, 6}));
  for (const int64_t step : {7, 6}) EXPECT_EQ(StepIn(run_.earlier(step)), step);
  ASSERT_EQ(tests.size(), 4u);
  const auto best = std::ranges::max_element(
      tests, [](const Evaluation& a, const Evaluation& b) { return *a.accuracy < *b.accuracy; });
  EXPECT_EQ(StepIn(run_.best()), best->step);
  EXPECT_EQ(BestResult(run_, "test")["step"], best->step);
  EXPECT_EQ(BestResult(run_, "test")["accuracy"], *best->accuracy);
  EXPECT_TRUE(BestResult(run_, "validation").is_null());
}

TEST_F(Checkpoints, OneIsKeptWhereOneIsWanted) {
  options_.keep = 1;
  recipes::Run(options_);
  EXPECT_TRUE(EarlierSteps(run_).empty());
  EXPECT_EQ(StepIn(run_.checkpoint()), 8);
}

// It is found between two checkpoints, so it needs one of its own.
TEST_F(Checkpoints, TheBestIsSavedWhereItIsFound) {
  options_.checkpoint_every = 100;
  options_.eval_every = 3;
  options_.max_steps = 5;
  int64_t best = 0;
  double highest = -1;
  recipes::Run(options_, {.on_evaluate = [&](const Evaluation& test) {
                 if (*test.accuracy > highest) highest = *test.accuracy, best = test.step;
               }});
  EXPECT_EQ(StepIn(run_.best()), best);
}

TEST(IsBetter, KnowsAccuracyLossAndWhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(IsBetter({{"accuracy", 0.5}, {"loss", 9}}, {{"accuracy", 0.4}, {"loss", 1}}));
  EXPECT_FALSE(IsBetter({{"accuracy", 0.5}, {"loss", 1}}, {{"accuracy", 0.5}, {"loss", 2}}));
  EXPECT_TRUE(IsBetter({{"loss", 1.0}}, {{"loss", 1.5}}));
  EXPECT_FALSE(IsBetter({{"loss", 2}}, {{"loss", 1.5}}));
  EXPECT_TRUE(IsBetter({{"loss", 2}}, nullptr));
  EXPECT_TRUE(IsBetter({{"loss", 2}}, {{"loss", inf}}));
  EXPECT_FALSE(IsBetter({{"loss", inf}}, nullptr));
  EXPECT_FALSE(IsBetter({{"loss", std::nan("")}}, {{"loss", 3}}));
  EXPECT_FALSE(IsBetter({{"loss", nullptr}}, {{"loss", nullptr}}));
  // What such outputs name as a class is no answer.
  EXPECT_FALSE(IsBetter({{"accuracy", 0.9}, {"loss", std::nan("")}}, nullptr));
  EXPECT_TRUE(IsBetter({{"accuracy", 0.1}, {"loss", 2}}, {{"accuracy", 0.9}, {"loss", nullptr}}));
}

TEST_F(Checkpoints, TheNewestWholeOneIsGoneOnWith) {
  recipes::Run(options_);
  const std::string whole = Weights();
  fs::remove_all(run_.path);
  options_.max_steps = 6;
  recipes::Run(options_);
  fs::resize_file(run_.checkpoint() + "/weights-1.safetensors", 1000);
  options_.max_steps = 0;
  std::vector<std::string> said;
  const RunResult result = recipes::Run(
      Resumed(run_.path), {.on_message = [&](const std::string& line) { said.push_back(line); }});
  EXPECT_EQ(SummaryOf(result)["resumed_from"], 5);
  EXPECT_TRUE(Weights() == whole);
  const auto note = std::ranges::find_if(said, [](const std::string& line) {
    return line.find("earlier/step-5 is taken instead of a newer checkpoint: ") != line.npos;
  });
  ASSERT_NE(note, said.end());
  EXPECT_NE(note->find("checkpoint/weights-1.safetensors]"), note->npos) << *note;
  EXPECT_EQ(EarlierSteps(run_), std::vector<int64_t>{7});
}

void TurnOverABit(const std::string& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(0, std::ios::end);
  const std::streamoff middle = stream.tellg() / 2;
  stream.seekg(middle);
  const int byte = stream.get();
  stream.seekp(middle);
  stream.put(static_cast<char>(byte ^ 4));
}

// One bit in the middle of any file is found by whoever goes on with the run, and by whoever begins
// with its weights, and the file is named.
TEST_F(Checkpoints, DamageOfAnyFileIsFoundByEveryReader) {
  options_.keep = 1;
  options_.max_steps = 2;
  recipes::Run(options_);
  const std::string whole = run_.path + "/whole";
  fs::copy(run_.checkpoint(), whole, fs::copy_options::recursive);
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(whole)) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    TurnOverABit(run_.checkpoint() + "/" + name);
    RunOptions begun = options_;
    begun.out = run_.path + "/other";
    begun.settings.init = run_.checkpoint();
    const std::string resumed =
        torus::testing::ErrorOf<std::exception>([&] { recipes::Run(Resumed(run_.path)); });
    EXPECT_NE(resumed.find(name), std::string::npos) << resumed;
    if (!name.starts_with("optimizer")) {  // which only a resumed run reads
      const std::string evaluated =
          torus::testing::ErrorOf<std::exception>([&] { EvaluateRun(begun); });
      EXPECT_NE(evaluated.find(name), std::string::npos) << evaluated;
    }
    fs::copy_file(entry.path(), run_.checkpoint() + "/" + name,
                  fs::copy_options::overwrite_existing);
    ++files;
  }
  EXPECT_EQ(files, 6);  // weights and optimizer of two stages, settings and the manifest
  EXPECT_EQ(torus::testing::ErrorOf<std::exception>([&] { recipes::Run(Resumed(run_.path)); }),
            "no error");
}

TEST_F(Checkpoints, AnyOneCanBeGoneBackTo) {
  options_.keep = 8;
  recipes::Run(options_);
  const std::string whole = Weights();
  EXPECT_EQ(EarlierSteps(run_).size(), 7u);
  RunOptions back = Resumed(run_.earlier(3));
  back.max_steps = 5;
  EXPECT_EQ(SummaryOf(recipes::Run(back))["resumed_from"], 3);
  // What was trained after it has been taken back.
  EXPECT_EQ(EarlierSteps(run_), (std::vector<int64_t>{4, 3, 2, 1}));
  EXPECT_EQ(SummaryOf(recipes::Run(Resumed(run_.path)))["resumed_from"], 5);
  EXPECT_TRUE(Weights() == whole);
  const int64_t best = StepIn(run_.best());
  EXPECT_EQ(SummaryOf(recipes::Run(Resumed(run_.best())))["resumed_from"], best);
  EXPECT_TRUE(Weights() == whole);
}

// Each stage's owner has written its own; one that is missing is found.
TEST_F(Checkpoints, EachStageHasItsFiles) {
  options_.settings.ema = 0.9;
  options_.max_steps = 1;
  recipes::Run(options_);
  const io::CheckpointReader checkpoint(run_.checkpoint());
  std::vector<std::string> names;
  for (const auto& [name, file] : checkpoint.manifest().files) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"averages-0.safetensors", "averages-1.safetensors",
                                             "optimizer-0.safetensors", "optimizer-1.safetensors",
                                             "weights-0.safetensors", "weights-1.safetensors"}));
  EXPECT_FALSE(fs::exists(run_.path + "/.rank-0"));
  fs::remove(run_.checkpoint() + "/optimizer-1.safetensors");
  EXPECT_NE(torus::testing::ErrorOf<std::exception>([&] {
              LoadRun(run_.checkpoint());
            }).find("optimizer-1.safetensors"),
            std::string::npos);
}

// As an earlier version left it.
TEST_F(Checkpoints, OneWithoutAManifestIsRefused) {
  options_.max_steps = 1;
  recipes::Run(options_);
  fs::remove(run_.checkpoint() + "/checkpoint.json");
  const std::string message = torus::testing::ErrorOf<std::exception>([&] { LoadRun(run_.path); });
  EXPECT_NE(message.find("must be a checkpoint, got no checkpoint.json"), message.npos) << message;
}

// Two steps as usual, then one whose update overflows.
TEST_F(Checkpoints, NothingThatIsNotFiniteIsSaved) {
  options_.max_steps = 2;
  recipes::Run(options_);
  const std::string good = Weights();
  RunOptions wild = Resumed(run_.path);
  wild.max_steps = 3;
  wild.settings.lr_schedule = "constant";
  wild.settings.lr = 1e38;
  const std::string message = torus::testing::ErrorOf<std::exception>([&] { recipes::Run(wild); });
  EXPECT_NE(message.find("finite"), message.npos) << message;
  EXPECT_EQ(StepIn(run_.checkpoint()), 2);
  EXPECT_TRUE(Weights() == good);
}

// What a run with nothing left to train has in its folder: times, trace and page are of steps that
// it does not take again.
class AtItsEnd : public Checkpoints {
 protected:
  std::vector<std::string> Left() const {
    std::vector<std::string> texts;
    for (const char* file : {"summary.json", "trace.json", "report.html", "metrics.jsonl"})
      texts.push_back(Text(file));
    return texts;
  }
  // Resumes with `options`; what it says.
  std::string Said(const RunOptions& options) {
    std::string said;
    result_ = recipes::Run(options,
                           {.on_message = [&](const std::string& line) { said += line + "\n"; }});
    return said;
  }
  RunResult result_;
};

TEST_F(AtItsEnd, TheBestThatIsTheLastChangesNothing) {
  options_.eval_every = 100;  // the last step is the only one that is evaluated
  recipes::Run(options_);
  ASSERT_EQ(StepIn(run_.best()), 8);
  const std::vector<std::string> before = Left();
  const std::string said = Said(Resumed(run_.best()));
  EXPECT_NE(said.find("all 8 steps are already done"), said.npos) << said;
  EXPECT_NE(said.find("a larger --epochs continues"), said.npos) << said;
  EXPECT_EQ(Left(), before);
  EXPECT_EQ(SummaryOf(result_), Summary());
  EXPECT_EQ(StepIn(run_.checkpoint()), 8);
}

TEST_F(AtItsEnd, FewerStepsThanAreDoneChangeNothing) {
  int steps = 0;
  const RunResult part =
      recipes::Run(options_, {.on_step = [&](const parallel::StepReport&) { ++steps; },
                              .stop = [&] { return steps >= 4; }});
  ASSERT_GT(part.step, 3);
  const std::vector<std::string> before = Left();
  RunOptions fewer = Resumed(run_.path);
  fewer.max_steps = 3;
  const std::string said = Said(fewer);
  EXPECT_NE(said.find("all 3 steps are already done"), said.npos) << said;
  EXPECT_NE(said.find("a larger --max-steps continues"), said.npos) << said;
  EXPECT_EQ(Left(), before);
  EXPECT_EQ(Summary()["finished"], false);
}

TEST_F(AtItsEnd, AnEarlierCheckpointWithNothingToTrainChangesNothing) {
  recipes::Run(options_);
  const std::vector<std::string> before = Left();
  RunOptions earlier = Resumed(run_.earlier(7));
  earlier.max_steps = 7;
  Said(earlier);
  EXPECT_EQ(Left(), before);
  EXPECT_EQ(StepIn(run_.checkpoint()), 8);
}

// Stopped in its last evaluation, it lacks only that.
TEST_F(AtItsEnd, AMissingEvaluationLeavesTheTimes) {
  bool trained = false;
  options_.eval_every = 100;
  recipes::Run(options_,
               {.on_step = [&](const parallel::StepReport& step) { trained = step.step == 7; },
                .stop = [&] { return trained; }});
  const Json before = Summary();
  ASSERT_EQ(before["steps"], 8);
  ASSERT_EQ(before["test"], nullptr);
  const std::string trace = Text("trace.json");
  Said(Resumed(run_.path));
  const Json after = Summary();
  EXPECT_EQ(after["finished"], true);
  EXPECT_EQ(after["test"]["samples"], 20);
  for (const char* key : {"ranks", "links", "seconds", "steps_here", "memory"})
    EXPECT_EQ(after[key], before[key]) << key;
  EXPECT_EQ(Text("trace.json"), trace);
}

// As another version wrote it, or an editor left it.
TEST_F(AtItsEnd, ASummaryThatLacksFiguresIsStillTold) {
  recipes::Run(options_);
  Json summary = Summary();
  for (const char* key : {"why_no_graph", "loss_scale", "links", "bubble"}) summary.erase(key);
  summary["memory"] = 7;
  std::ofstream(run_.summary()) << summary.dump();
  Said(Resumed(run_.path));
  const std::string text = SummaryText(result_);
  EXPECT_NE(text.find("accuracy"), text.npos) << text;
  EXPECT_NE(text.find("speed"), text.npos) << text;
  EXPECT_EQ(text.find("memory"), text.npos) << text;
  EXPECT_EQ(ToText(Json::object()), "");
}

TEST_F(Checkpoints, AFailedRunLeavesSummaryTraceAndReport) {
  const std::string message = torus::testing::ErrorOf<std::exception>([&] {
    recipes::Run(options_, {.on_step = [](const parallel::StepReport& step) {
                   if (step.step == 5) throw std::runtime_error("the screen is gone");
                 }});
  });
  EXPECT_NE(message.find("the screen is gone"), message.npos) << message;
  const Json summary = Summary();
  EXPECT_EQ(summary["finished"], false);
  EXPECT_EQ(summary["error"], message);
  EXPECT_GE(summary["steps"], 5);
  EXPECT_GT(Json::parse(Text("trace.json"))["traceEvents"].size(), 50u);
  EXPECT_NE(Text("report.html").find("id=\"data\""), std::string::npos);
  EXPECT_EQ(StepIn(run_.checkpoint()), 5);
  const RunResult rest = recipes::Run(Resumed(run_.path));
  EXPECT_EQ(SummaryOf(rest)["error"], nullptr);
  EXPECT_EQ(rest.step, 8);
}

TEST_F(Checkpoints, WhatCannotBeWrittenKeepsNothingElseFromIt) {
  options_.settings.ema = 0.9;
  fs::create_directories(run_.report());
  fs::create_directories(run_.trace());
  const std::string message =
      torus::testing::ErrorOf<std::exception>([&] { recipes::Run(options_); });
  EXPECT_NE(message.find("trace.json"), message.npos) << message;
  EXPECT_GT(Text("averaged_weights.safetensors").size(), 1000u);
  EXPECT_EQ(Summary()["steps"], 8);
  EXPECT_EQ(StepIn(run_.checkpoint()), 8);
}

TEST_F(Checkpoints, DamagedMetricsAreLeftOut) {
  options_.max_steps = 4;
  recipes::Run(options_);
  const std::string text = Text("metrics.jsonl");
  std::ofstream(run_.metrics())
      << "{\"kind\": \"test\", \"step\": 1}\n{\"step\": \"two\"}\n[]\n{\"kind\": 7, \"step\": 2}\n"
      << "{\"kind\": \"test\", \"step\": 2, \"loss\": null, \"perplexity\": null}\n"
      << text << "{\"kind\": \"train\", \"step\": 3, \"lo";
  options_.max_steps = 0;
  const RunResult result = recipes::Run(Resumed(run_.path));
  EXPECT_TRUE(result.finished);
  EXPECT_GT(Text("report.html").size(), 1000u);
  std::istringstream lines(Text("metrics.jsonl"));
  std::vector<int64_t> trained;
  for (std::string line; std::getline(lines, line);)
    if (const Json json = Json::parse(line); json["kind"] == "train")
      trained.push_back(json["step"]);
  EXPECT_EQ(trained, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace torus::recipes::testing
