// The programs of a teacher, run as a teacher runs them.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

class TeachersProgramTest : public ProgramTest {
 protected:
  Ended Run(const std::string& program, const std::vector<std::string>& arguments) const {
    return Program(program, arguments, scratch_).Wait();
  }
  const std::string labs_ = "tools/labs/build_it_yourself";
};

// A question's program is the file of all questions under its own name.
TEST_F(TeachersProgramTest, StripMakesAFolderWhoseProgramsRun) {
  const std::string students = scratch_ + "/students", out = scratch_ + "/out";
  const Ended strip = Run(labs_ + "/strip", {students});
  ASSERT_EQ(strip.status, 0) << strip.err;
  const Ended blank = Run(students + "/q2", {"--blank", "--out", out});
  EXPECT_EQ(blank.status, 0) << blank.err;
  EXPECT_NE(ReadText(out + "/q2_report.md").find("Report on question 2"), std::string::npos);
  EXPECT_NE(Run(students + "/train_with", {"--help"}).out.find("--ring"), std::string::npos);
  EXPECT_NE(Run(students + "/grade", {"--help"}).out.find("ring"), std::string::npos);
}

TEST_F(TeachersProgramTest, GradeAllWritesEveryForm) {
  fs::create_directories(scratch_ + "/class/anna");
  fs::copy_file("tests/tools/labs/faults/ring/does_not_compile.cc",
                scratch_ + "/class/anna/ring.cc");
  const std::string json = scratch_ + "/grades.json", junit = scratch_ + "/grades.xml";
  const Ended ended = Run(labs_ + "/grade_all", {scratch_ + "/class", "--json", json, "--junit",
                                                 junit, "--seed", "7", "--deadline", "30"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(nlohmann::json::parse(ReadText(json))[0]["grades"][0]["seed"], 7);
  EXPECT_NE(ReadText(junit).find("<testsuite name=\"anna.ring\""), std::string::npos);
  EXPECT_TRUE(ended.out.starts_with("anna, ring: 0 of 100 points\n")) << ended.out;
  for (const auto& entry : fs::directory_iterator(scratch_))
    EXPECT_NE(entry.path().extension(), ".new") << "written, but not in its place";
}

// Grading a class takes hours.
TEST_F(TeachersProgramTest, AFileThatCannotBeWrittenIsRefusedBeforeAnythingIsGraded) {
  fs::create_directories(scratch_ + "/class/anna");
  const std::string solution = scratch_ + "/class/anna/ring.cc", nowhere = scratch_ + "/no/file";
  fs::copy_file("tests/tools/labs/faults/ring/does_not_compile.cc", solution);
  for (const char* flag : {"--json", "--junit", "--csv"}) {
    std::vector<std::vector<std::string>> commands{{"grade_all", scratch_ + "/class"}};
    if (flag != std::string("--csv")) commands.push_back({"grade", "ring", solution});
    for (const std::vector<std::string>& command : commands) {
      std::vector<std::string> flags(command.begin() + 1, command.end());
      flags.insert(flags.end(), {flag, nowhere});
      const Ended ended = Run(labs_ + "/" + command[0], flags);
      EXPECT_EQ(ended.status, 2) << ended.err;
      EXPECT_EQ(ended.out, "");
      EXPECT_NE(ended.err.find(fmt::format("{} {}: there is no folder", flag, nowhere)),
                std::string::npos)
          << ended.err;
    }
  }
}

// Nor takes its place: it may be where another program reads.
TEST_F(TeachersProgramTest, GradeAllWritesOneTableToAPipe) {
  for (const char* student : {"anna", "berta"}) {
    fs::create_directories(scratch_ + "/class/" + student);
    fs::copy_file("tests/tools/labs/faults/ring/does_not_compile.cc",
                  scratch_ + "/class/" + student + "/ring.cc");
  }
  const std::string pipe = scratch_ + "/pipe", link = scratch_ + "/link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  const Ended ended = Run(labs_ + "/grade_all", {scratch_ + "/class", "--csv", link});
  std::string table(4096, ' ');
  table.resize(static_cast<size_t>(std::max<ssize_t>(0, read(reader, table.data(), table.size()))));
  close(reader);
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(table,
            "student,ring,buckets,gpipe,1f1b,sortq,autograd,server\n"
            "anna,0,,,,,,\n"
            "berta,0,,,,,,\n");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(fs::is_symlink(link));
}

// Ctrl-C: what is graded by then is said and written, and no folder of the compiler's stays.
class StoppedProgramTest : public TeachersProgramTest {
 protected:
  void SetUp() override {
    TeachersProgramTest::SetUp();
    fs::create_directories(temporary_ = scratch_ + "/tmp");
    setenv("TMPDIR", temporary_.c_str(), 1);
  }
  void TearDown() override { unsetenv("TMPDIR"); }
  bool Compiles() const { return !fs::is_empty(temporary_); }
  void HandIn(const std::string& student, const std::string& fault) const {
    fs::create_directories(scratch_ + "/class/" + student);
    fs::copy_file("tests/tools/labs/faults/ring/" + fault + ".cc",
                  scratch_ + "/class/" + student + "/ring.cc");
  }
  // A program that has been linked: it is tested.
  bool Tests() const {
    for (const auto& entry : fs::recursive_directory_iterator(temporary_))
      if (entry.is_regular_file() && !entry.path().has_extension()) return true;
    return false;
  }

  std::string temporary_;
};

TEST_F(StoppedProgramTest, GradeAllHasWhatWasGraded) {
  HandIn("anna", "does_not_compile");
  HandIn("berta", "sleeps");
  HandIn("carl", "does_not_compile");
  const Program program(labs_ + "/grade_all", {scratch_ + "/class", "--csv", scratch_ + "/a.csv"},
                        scratch_);
  ASSERT_TRUE(program.RunsUntilItSays("anna, ring: 0 of 100 points\n"));
  ASSERT_TRUE(program.RunsUntil([&] { return Tests(); }));
  program.Signal(SIGINT);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  EXPECT_NE(ended.out.find("stopped: this is what was graded by then\n"), std::string::npos)
      << ended.out;
  EXPECT_EQ(ReadText(scratch_ + "/a.csv"),
            "student,ring,buckets,gpipe,1f1b,sortq,autograd,server\n"
            "anna,0,,,,,,\n"
            "berta,,,,,,,\n");
  EXPECT_FALSE(Compiles());
}

TEST_F(StoppedProgramTest, GradeSaysWhichTestsWereRun) {
  HandIn("berta", "sleeps");
  const Program program(labs_ + "/grade",
                        {"ring", scratch_ + "/class/berta/ring.cc", "--json", scratch_ + "/a.json"},
                        scratch_);
  ASSERT_TRUE(program.RunsUntil([&] { return Tests(); }));
  program.Signal(SIGTERM);
  const Ended ended = program.Wait();
  EXPECT_EQ(ended.status, 128 + SIGTERM) << ended.err;
  EXPECT_NE(ended.out.find("not graded: the grader was stopped"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("stopped: this is no grade, and no file was written\n"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(scratch_ + "/a.json"));
  EXPECT_FALSE(Compiles());
}

// The compiler is ended too: it has a group of its own, which the terminal's Ctrl-C does not reach.
TEST_F(StoppedProgramTest, WhileItCompiles) {
  HandIn("berta", "sleeps");
  const std::string file = scratch_ + "/class/berta/ring.cc";
  const std::pair<std::string, std::vector<std::string>> programs[] = {
      {labs_ + "/grade", {"ring", file}},
      {labs_ + "/grade_all", {scratch_ + "/class"}},
      {"tools/labs/train_with/train_with", {"--ring", file, "--out", scratch_ + "/out"}}};
  for (const auto& [path, words] : programs) {
    const Program program(path, words, scratch_);
    ASSERT_TRUE(program.RunsUntil([&] { return Compiles(); })) << path;
    program.Signal(SIGINT);
    const Ended ended = program.Wait();
    EXPECT_EQ(ended.status, 128 + SIGINT) << path << ": " << ended.err;
    EXPECT_NE((ended.out + ended.err).find("stopped"), std::string::npos) << ended.out;
    EXPECT_FALSE(Compiles()) << path;
  }
}

}  // namespace
}  // namespace torus::tools::testing
