// What the grader does with code that does not come back with a result.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

void ExpectReason(const Grade& grade, const std::string& test, const std::string& says) {
  EXPECT_NE(ReasonOf(grade, test).find(says), std::string::npos) << ToText(grade);
}

TEST(Grade, SaysThatARankCrashed) {
  ExpectReason(GradeOfFault("ring", "crash"), "one-rank", "rank 0 crashed: signal 11");
}

TEST(Grade, SaysThatARankLeftEarly) {
  for (const char* file : {"leaves_early", "leaves_by_system_call"})
    ExpectReason(GradeOfFault("ring", file), "one-rank", "rank 0 ended by itself with status 0");
}

TEST(Grade, EndsAnEndlessLoopAndGoesOn) {
  const Grade grade =
      GradeOfFault("ring", "endless_loop", {.limits = {.cpu_seconds = 1, .deadline = 300}});
  ExpectReason(grade, "even-ranks", "was ended after 1 s of CPU time");
  ExpectReason(grade, "uneven-chunks", "not run: two tests before it");
  EXPECT_EQ(grade.tests.size(), ExerciseByName("ring").tests.size());
}

TEST(Grade, EndsWhatOnlyWaits) {
  const Grade grade = GradeOfFault("ring", "sleeps", {.limits = {.deadline = 1}});
  ExpectReason(grade, "two-ranks", "not done after 1 s: still at work are the ranks 0 1");
}

TEST(Grade, EndsARankThatClosesItsWire) {
  ExpectReason(GradeOfFault("ring", "closes_wire"), "one-rank", "closed its wire and went on");
}

TEST(Grade, SaysLoopOnlyWhereTimeWasUsed) {
  const Grade grade = GradeOfFault("ring", "kills_itself");
  ExpectReason(grade, "one-rank", "rank 0 was killed, not by the grader");
}

TEST(Grade, BoundsWhatIsUnderWay) {
  const Grade grade = GradeOfFault("ring", "floods", {.limits = {.deadline = 300}});
  ExpectReason(grade, "two-ranks", "bytes that nobody received; 67108864 may be under way");
}

TEST(Grade, LetsNoFileBeWrittenOrRemoved) {
  std::ofstream("kept.txt") << "a teacher's";
  ExpectReason(GradeOfFault("ring", "writes_file"), "one-rank", "cannot write kept.txt");
  ExpectReason(GradeOfFault("ring", "removes_file"), "one-rank", "may not remove");
  std::ifstream kept("kept.txt");
  const std::string text{std::istreambuf_iterator<char>(kept), {}};
  EXPECT_EQ(text, "a teacher's");
  std::filesystem::remove("kept.txt");
}

TEST(Grade, BoundsMemory) {
  ExpectReason(GradeOfFault("ring", "takes_all_memory", {.limits = {.memory_bytes = 128 << 20}}),
               "one-rank", "asked for more memory than it may have");
}

TEST(Grade, GivesNoNetwork) {
  ExpectReason(GradeOfFault("ring", "opens_socket"), "one-rank", "threw an exception: no socket");
}

TEST(Grade, GivesNoWayToTheGrader) {
  const auto refuses = [](const char* file, const char* what) {
    ExpectReason(GradeOfFault("ring", file), "one-rank",
                 std::string("threw an exception: ") + what);
  };
  refuses("kills_grader_by_tgkill", "no signal to a thread of the grader");
  refuses("kills_grader_by_sigqueue", "no signal to the grader");
  refuses("kills_grader_by_owner", "no other owner");
  refuses("limits_grader", "no limit for the grader");
}

TEST(Grade, GivesNoWayBesidesTheWire) {
  ExpectReason(GradeOfFault("ring", "opens_message_queue"), "one-rank",
               "threw an exception: no message queue");
  ExpectReason(GradeOfFault("ring", "opens_its_memory"), "one-rank",
               "threw an exception: its memory stays closed");
}

TEST(Grade, SaysThatARankAborted) {
  ExpectReason(GradeOfFault("ring", "aborts"), "one-rank", "rank 0 crashed: signal 6 (Aborted)");
}

TEST(Grade, GivesNothingForAForgedResult) {
  const Grade grade = GradeOfFault("ring", "forges_result");
  ExpectReason(grade, "one-rank", "rank 0 has a result of 0 floats, and 17 are expected");
  EXPECT_EQ(grade.points(), 0) << ToText(grade);
}

TEST(Grade, GivesNothingWhereWhatATestReadsIsMissing) {
  const Grade grade = GradeOfFault("ring", "reports_nothing");
  ExpectReason(grade, "leak", "the ranks reported what this test cannot read");
  EXPECT_EQ(ReasonOf(grade, "one-rank"), "");
}

TEST(Grade, ShowsWhatWasPrintedWithoutControls) {
  const Grade grade = GradeOfFault("ring", "prints_controls");
  EXPECT_NE(ToText(grade).find("it printed: ?[2J100 of 100 points"), std::string::npos)
      << ToText(grade);
}

// Neither controls nor a line that looks like the grader's own.
TEST(Grade, ShowsAnExceptionsTextWithoutControls) {
  const std::string text = ToText(GradeOfFault("ring", "throws_controls"));
  EXPECT_NE(text.find("threw an exception: no?[2J?2J\n      | 100 of 100 points"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Grade, LetsNobodySlowTheGraderOrChangeAFile) {
  std::ofstream("kept.txt") << "a teacher's";
  ExpectReason(GradeOfFault("ring", "reaches_out"), "one-rank",
               "threw an exception: reached: nothing");
  std::filesystem::remove("kept.txt");
}

TEST(Grade, CountsNeitherThreadsPoolsNorThePrintersRoom) {
  for (const char* file : {"on_many_threads", "prints_all"}) {
    const Grade grade = GradeOfFault("ring", file);
    EXPECT_EQ(grade.points(), 100) << ToText(grade);
  }
}

TEST(Grade, GivesThreadsAndNoProcess) {
  ExpectReason(GradeOfFault("ring", "forks"), "one-rank", "threw an exception: no process");
}

TEST(Grade, ShowsTheCompilersMessageWithTheLine) {
  const Grade grade = GradeOfFault("ring", "does_not_compile");
  EXPECT_EQ(grade.points(), 0);
  EXPECT_NE(grade.messages.find("value /= wire.sise();"), std::string::npos) << grade.messages;
  ExpectReason(grade, "one-rank", "it does not compile");
}

// Of a file of these lines.
Grade GradeOfIncluding(const std::string& name, const std::string& lines) {
  const std::string path = ::testing::TempDir() + "/" + name + ".cc";
  std::ofstream(path) << lines;
  return GradeOf("ring", path);
}

TEST(Grade, GivesNothingForAnIncludedSolution) {
  const std::string solution = std::filesystem::absolute(LabsFolder()) / "solutions/ring.cc",
                    include = "#include \"" + solution + "\"\n",
                    says = "it includes " + solution + ", which is not a header of this lab or of ";
  for (const std::string& lines : {include, "#pragma GCC system_header\n" + include,
                                   "#line 1 \"/usr/include/stdio.h\"\n" + include,
                                   "# 1 \"/usr/include/stdio.h\" 1 3\n" + include}) {
    const Grade grade = GradeOfIncluding("includes_solution", lines);
    EXPECT_EQ(grade.points(), 0) << lines;
    for (const TestResult& test : grade.tests) EXPECT_TRUE(test.reason.starts_with(says)) << lines;
  }
}

TEST(Grade, GivesNothingForAnIncludeByAnotherWay) {
  const std::string ring = LabsFolder() + "/ring";
  for (const std::string& file : {ring + "/../solutions/ring.cc", ring + "/../ring/ring.cc"})
    ExpectReason(GradeOfIncluding("another_way", "#include \"" + file + "\"\n"), "one-rank",
                 "it includes " + file);
}

TEST(Grade, SaysThatAFolderIsNoFile) {
  try {
    GradeOf("ring", LabsFolder());
    FAIL() << "graded a folder";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("is a folder: name your source file"),
              std::string::npos)
        << error.what();
  }
}

TEST(Grade, RefusesWhatIsNoFileOrExercise) {
  EXPECT_THROW(GradeOf("ring", "nowhere.cc"), BadInput);
  EXPECT_THROW(ExerciseByName("rings"), BadInput);
}

TEST(Grade, AnotherSeedHasOtherSizes) {
  const auto reason = [](uint64_t seed) {
    return ReasonOf(GradeOfFault("ring", "whole_tensor", {.seed = seed}), "bytes");
  };
  EXPECT_EQ(reason(7), reason(7));
  EXPECT_NE(reason(7), reason(8));
}

TEST(WriteGrade, SaysTheSameInEveryForm) {
  const Grade grade{"ring",
                    "a.cc",
                    3,
                    "",
                    {{"first", "works", 10, 10, ""},
                     {"second", "", 0, 5, "1 < 2 &\n\"nö\"\x01\xff\xef\xbf\xbe"}}};
  EXPECT_EQ(grade.points(), 10);
  EXPECT_NE(ToText(grade).find("10 of 15 points"), std::string::npos);
  const nlohmann::json json = ToJson(grade);
  EXPECT_EQ(json["points"], 10);
  EXPECT_EQ(json["tests"][1]["passed"], false);
  EXPECT_EQ(json["tests"][1]["reason"], "1 < 2 &\n\"nö\"???");
  EXPECT_EQ(ToJUnit(grade),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"ring\" tests=\"2\" failures=\"1\">\n"
            "  <testcase classname=\"ring\" name=\"first\"/>\n"
            "  <testcase classname=\"ring\" name=\"second\"><failure message=\"1 &lt; 2 &amp;"
            "&#10;&quot;nö&quot;???\"/></testcase>\n"
            "</testsuite>\n");
}

}  // namespace
}  // namespace torus::tools::labs::testing
