// Studies that are ended in between and go on.
#include "recipes/study/run_study.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "runtime/error.h"

namespace torus::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Study : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/study-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }

  // Runs what is missing of a, b with two seeds; the run at place `fails` throws.
  std::vector<FinishedRun> Start(int fails = -1) {
    RunStore store(folder_);
    carried_out_.clear();
    lines_.clear();
    return RunMissing(
        store, SeedsInTurn({{"a", 1, {{"lr", 0.1}}}, {"b", 1, {{"lr", rate_}}}}, 2),
        [&](const PlannedRun& run, const std::vector<FinishedRun>& done) -> std::optional<Json> {
          before_ = done.size();
          if (static_cast<int>(carried_out_.size()) == fails) throw std::runtime_error("killed");
          carried_out_.push_back(run.name + std::to_string(run.seed));
          return Json{{"accuracy", run.settings.at("lr").get<double>() + double(run.seed)}};
        },
        [&](const std::string& line) { lines_ += line + "\n"; });
  }

  std::string PathOfB1() { return RunStore(folder_).PathOf({"b", 1, {{"lr", rate_}}}); }

  std::string folder_, lines_;
  std::vector<std::string> carried_out_;
  double rate_ = 0.2;
  size_t before_ = 0;  // runs that the last one was told of
};

using Names = std::vector<std::string>;

TEST_F(Study, RunsSeedsInTurn) {
  const std::vector<FinishedRun> done = Start();
  EXPECT_EQ(carried_out_, (Names{"a1", "b1", "a2", "b2"}));
  EXPECT_EQ(ValuesOf(done, "b", "accuracy"), (std::vector<double>{1.2, 2.2}));
  EXPECT_THROW(ValuesOf(done, "b", "loss"), BadInput);
}

TEST_F(Study, LosesTheRunThatWasKilledAlone) {
  EXPECT_THROW(Start(2), std::runtime_error);
  EXPECT_EQ(carried_out_, (Names{"a1", "b1"}));
  const std::vector<FinishedRun> done = Start();
  EXPECT_EQ(carried_out_, (Names{"a2", "b2"}));
  EXPECT_EQ(ValuesOf(done, "a", "accuracy"), (std::vector<double>{1.1, 2.1}));
  EXPECT_NE(lines_.find("run 2 of 4: b, seed 1: was done before\n"), std::string::npos) << lines_;
  EXPECT_EQ(before_, 3u) << "a run is told of those that were done before too";
  Start();
  EXPECT_EQ(carried_out_, Names{});
}

TEST_F(Study, RunsAnewWhatHasOtherSettings) {
  Start();
  rate_ = 0.3;
  EXPECT_EQ(ValuesOf(Start(), "b", "accuracy"), (std::vector<double>{1.3, 2.3}));
  EXPECT_EQ(carried_out_, (Names{"b1", "b2"}));
}

// Each of: cut short, another digit, another run's file, no JSON.
TEST_F(Study, RunsAnewWhoseFileIsDamaged) {
  Start();
  const std::string path = PathOfB1();
  std::stringstream whole;
  whole << std::ifstream(path).rdbuf();
  const std::string text = whole.str(), number = "1.2";
  ASSERT_NE(text.find(number), std::string::npos) << text;
  std::string other = text;
  other.replace(text.find(number), number.size(), "1.3");
  const std::string damaged[] = {text.substr(0, text.size() / 2), other, "{}", ""};
  for (const std::string& bytes : damaged) {
    std::ofstream(path) << bytes;
    const std::vector<FinishedRun> done = Start();
    EXPECT_EQ(carried_out_, Names{"b1"}) << bytes;
    EXPECT_NE(lines_.find("it is run anew"), std::string::npos) << lines_;
    EXPECT_EQ(ValuesOf(done, "b", "accuracy"), (std::vector<double>{1.2, 2.2}));
  }
  fs::copy_file(RunStore(folder_).PathOf({"a", 1, {{"lr", 0.1}}}), path,
                fs::copy_options::overwrite_existing);
  Start();
  EXPECT_EQ(carried_out_, Names{"b1"});
}

TEST_F(Study, EndsWhereARunIsStopped) {
  RunStore store(folder_);
  int begun = 0;
  const std::vector<FinishedRun> done =
      RunMissing(store, SeedsInTurn({{"a", 1, Json::object()}}, 3),
                 [&](const PlannedRun&, const auto&) -> std::optional<Json> {
                   if (++begun == 2) return std::nullopt;
                   return Json{{"x", 1}};
                 });
  EXPECT_EQ(done.size(), 1u);
}

TEST_F(Study, KeepsWhatIsNotFiniteAsNothing) {
  RunStore store(folder_);
  const PlannedRun run{"a", 1, Json::object()};
  store.Save(run, {{"loss", std::numeric_limits<double>::infinity()}});
  const std::optional<Json> found = store.Find(run);
  ASSERT_TRUE(found) << store.damage();
  EXPECT_TRUE(found->at("loss").is_null());
}

// The first time and every later one.
TEST_F(Study, ShowsTheSameWhetherARunWasDoneBefore) {
  RunStore store(folder_);
  const auto start = [&] {
    const std::vector<FinishedRun> done =
        RunMissing(store, {{"a", 1, Json::object()}}, [](const PlannedRun&, const auto&) {
          return Json{{"loss", std::numeric_limits<double>::infinity()}};
        });
    return done.at(0).result;
  };
  const Json first = start();
  EXPECT_EQ(first, start());
  EXPECT_TRUE(first.at("loss").is_null());
}

TEST_F(Study, IsOneProcessAtATime) {
  RunStore store(folder_);
  EXPECT_THROW(RunStore second(folder_), BadInput);
}

TEST_F(Study, RefusesNamesTwiceAndNoSeed) {
  EXPECT_THROW(SeedsInTurn({{"a", 1, {}}, {"a", 1, {}}}, 1), BadInput);
  EXPECT_THROW(SeedsInTurn({{"a", 1, {}}}, 0), BadInput);
}

}  // namespace
}  // namespace torus::study
