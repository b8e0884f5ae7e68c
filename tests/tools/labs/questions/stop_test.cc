// Questions that are ended by Ctrl-C: what they have measured is on a page, and the same command
// goes on behind it.
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string question;
  std::string first;     // what is told of its first complete run
  std::string measures;  // what it tells only where it is measured; empty: nothing
  std::vector<std::string> flags;
};

void PrintTo(const Case& of, std::ostream* out) { *out << of.question; }

class StoppedQuestion : public ProgramTest, public ::testing::WithParamInterface<Case> {
 protected:
  // A question's program is the file of all questions under its own name.
  Program Question() const {
    const std::string program = scratch_ + "/" + GetParam().question;
    if (!fs::exists(program)) fs::copy_file("tools/labs/questions/q1", program);
    std::vector<std::string> flags = {"--model",    "cifar_resnet20",   "--data", "fashion-mnist",
                                      "--data-dir", scratch_ + "/data", "--out",  Out()};
    flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
    return Program(program, flags, scratch_);
  }
  std::string Out() const { return scratch_ + "/out"; }
  std::string File(const std::string& ending) const {
    return Out() + "/" + GetParam().question + ending;
  }
};

TEST_P(StoppedQuestion, ShowsWhatItHasAndGoesOnBehindIt) {
  const Case& of = GetParam();
  const Program program = Question();
  ASSERT_TRUE(program.RunsUntilItSays(of.first)) << program.out();
  program.Signal(SIGINT);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  EXPECT_NE(ended.out.find("stopped; so far: " + File("_so_far.html")), std::string::npos)
      << ended.out;
  const std::string page = ReadText(File("_so_far.md"));
  EXPECT_NE(page.find(of.first), std::string::npos) << page;
  EXPECT_FALSE(fs::exists(File(".html")));

  const Ended again = Question().Wait();
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find("kept from an earlier start"), std::string::npos) << again.out;
  if (!of.measures.empty()) {
    EXPECT_EQ(again.out.find(of.measures), std::string::npos) << again.out;
  }
  EXPECT_TRUE(fs::exists(File(".html")));
  EXPECT_FALSE(fs::exists(File("_so_far.html")));
  EXPECT_FALSE(fs::exists(Out() + "/times_so_far")) << "times are measured anew";
}

const std::vector<std::string> kEpochs = {"--batches", "2", "--ranks",       "2", "--images", "60",
                                          "--epochs",  "2", "--test-images", "10"};
const std::vector<std::string> kTimes = {"--batches", "2,4,6", "--ranks", "1,2", "--images", "60"};

Case Times(const std::string& question) {
  return {question, "batch 2 a rank, 1 rank: ", "", kTimes};
}
Case Curves(const std::string& question, const std::string& first) {
  std::vector<std::string> flags = kEpochs;
  if (question != "q5") flags.insert(flags.end(), {"--small-batch", "2"});
  return {question, first + ": test accuracy", first + ", epoch 1", flags};
}

INSTANTIATE_TEST_SUITE_P(
    Questions, StoppedQuestion,
    ::testing::Values(
        Case{"q1", "batch 2 a rank, 1 rank: ", "", {"--batches", "2,4,6", "--images", "60"}},
        Times("q2"), Times("q3_1"), Times("q3_2"), Curves("q4_1", "batch 2, 1 rank"),
        Curves("q4_2", "batch 2, 1 rank"), Curves("q5", "with SetEpoch"),
        Case{"q7",
             "weights shared, gradients averaged: distance",
             "",
             {"--batches", "2", "--ranks", "2", "--images", "60", "--steps", "20"}}),
    [](const auto& of) { return of.param.question; });

// The only run of question 6 leaves nothing to go on behind.
TEST_F(ProgramTest, AQuestionThatHasMeasuredNothingSaysSo) {
  const std::string program = scratch_ + "/q6";
  fs::copy_file("tools/labs/questions/q1", program);
  recipes::testing::WriteImages(scratch_ + "/data", "train", 20000);
  const Program question(
      program,
      {"--model", "cifar_resnet20", "--data", "fashion-mnist", "--data-dir", scratch_ + "/data",
       "--batches", "2", "--ranks", "2", "--out", scratch_ + "/out"},
      scratch_);
  ASSERT_TRUE(question.RunsUntilItSays("report to fill in"));
  question.Signal(SIGINT);
  const Ended ended = question.Wait();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  EXPECT_NE(ended.out.find("stopped before anything was measured\n"), std::string::npos)
      << ended.out;
}

}  // namespace
}  // namespace torus::tools::testing
