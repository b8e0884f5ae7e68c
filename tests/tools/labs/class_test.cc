// What a teacher does: a folder for students, and a table of what they hand in.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "tests/tools/labs/grading.h"
#include "tools/labs/build_it_yourself/grader/class_table.h"
#include "tools/labs/build_it_yourself/grader/run_command.h"
#include "tools/labs/build_it_yourself/grader/student_tree.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools::labs::testing {
namespace {

namespace fs = std::filesystem;

class ClassTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    scratch_ = ::testing::TempDir() + "/" + name;
    fs::remove_all(scratch_);
    fs::create_directories(scratch_);
  }
  void HandIn(const std::string& student, const std::string& file, const std::string& as) {
    fs::create_directories(scratch_ + "/" + student);
    fs::copy_file(file, scratch_ + "/" + student + "/" + as);
  }
  std::string scratch_;
};

TEST_F(ClassTest, ATableHasARowForEachStudent) {
  HandIn("berta", LabsFolder() + "/solutions/ring.cc", "ring.cc");
  HandIn("anna", "tests/tools/labs/faults/ring/does_not_compile.cc", "ring.cc");
  HandIn("anna", LabsFolder() + "/solutions/gpipe.cc", "gpipe.cc");
  fs::create_directories(scratch_ + "/carl");
  Compiler compiler(LabsFolder());
  const auto students = GradeClass(compiler, scratch_, {});
  EXPECT_EQ(ToCsv(students),
            "student,ring,buckets,gpipe,1f1b,sortq,autograd,server\n"
            "anna,0,,100,,,,\n"
            "berta,100,,,,,,\n"
            "carl,,,,,,,\n");
  const std::string text = ToText(students);
  EXPECT_NE(text.find("anna, ring: two-ranks: it does not compile"), std::string::npos) << text;
  EXPECT_EQ(text.find("berta, "), std::string::npos) << text;

  const nlohmann::json json = ToJson(students);
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["student"], "anna");
  EXPECT_EQ(json[0]["grades"].size(), 2u);
  EXPECT_EQ(json[1]["grades"][0], ToJson(students[1].grades.at("ring")));
  EXPECT_TRUE(json[2]["grades"].empty());

  const std::string junit = ToJUnit(students);
  EXPECT_TRUE(junit.starts_with(std::string(kXmlBegin) + "<testsuites>\n<testsuite name=\"anna."));
  EXPECT_NE(junit.find("<testsuite name=\"berta.ring\" tests=\"11\" failures=\"0\">"),
            std::string::npos)
      << junit;
  EXPECT_NE(junit.find("<testcase classname=\"anna.ring\" name=\"two-ranks\"><failure message=\"it "
                       "does not compile"),
            std::string::npos)
      << junit;
}

TEST_F(ClassTest, WhatCannotBeReadKeepsNobodyFromTheirGrades) {
  HandIn("berta", LabsFolder() + "/solutions/ring.cc", "ring.cc");
  fs::create_directories(scratch_ + "/anna/gpipe.cc");
  fs::create_symlink("ring.cc", scratch_ + "/anna/ring.cc");
  fs::create_symlink("carl", scratch_ + "/carl");
  Compiler compiler(LabsFolder());
  const auto students = GradeClass(compiler, scratch_, {});
  EXPECT_EQ(ToCsv(students),
            "student,ring,buckets,gpipe,1f1b,sortq,autograd,server\n"
            "anna,0,,0,,,,\n"
            "berta,100,,,,,,\n");
  const std::string text = ToText(students);
  EXPECT_NE(text.find("anna, ring: two-ranks: it cannot be read: Too many levels of symbolic"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("anna, gpipe: "), std::string::npos) << text;
  EXPECT_NE(text.find(": it is no regular file"), std::string::npos) << text;
}

TEST_F(ClassTest, NamesWhatIsNoExercisesFile) {
  const std::string file = "tests/tools/labs/faults/ring/does_not_compile.cc";
  HandIn("carl", file, "rnig.cc");
  HandIn("carl", file, ".rnig.cc.swp");
  HandIn("carl\x1b[2J", file, "ring.cc");
  Compiler compiler(LabsFolder());
  const auto students = GradeClass(compiler, scratch_, {});
  const std::string text = ToText(students);
  EXPECT_NE(
      text.find("carl: rnig.cc is not graded: no exercise has that name; there are ring.cc, "),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find(".swp"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(ToJson(students)[0]["passed_over"], nlohmann::json({"rnig.cc"}));
}

TEST_F(ClassTest, TellsWhatIsGradedOnTheWay) {
  for (const char* student : {"anna", "berta"})
    for (const char* file : {"ring.cc", "server.cc"})
      HandIn(student, "tests/tools/labs/faults/ring/does_not_compile.cc", file);
  std::string told;
  const ClassProgress progress{
      .on_file = [&](const std::string& student,
                     const Grade& grade) { told += student + " " + grade.exercise + ", "; },
      .on_student =
          [&](const std::vector<StudentGrades>& so_far) {
            told += std::to_string(so_far.size()) + " students, " + so_far.back().student +
                    " with " + std::to_string(so_far.back().grades.size()) + "; ";
          }};
  Compiler compiler(LabsFolder());
  GradeClass(compiler, scratch_, {}, progress);
  EXPECT_EQ(told,
            "anna ring, anna server, 1 students, anna with 2; "
            "berta ring, berta server, 2 students, berta with 2; ");
}

TEST_F(ClassTest, RefusesWhatIsNoClass) {
  Compiler compiler(LabsFolder());
  EXPECT_THROW(GradeClass(compiler, scratch_ + "/nowhere", {}), BadInput);
  EXPECT_THROW(GradeClass(compiler, scratch_, {}), BadInput);
}

// The grader stands in for the larger programs, which other tests run.
StudentPrograms Programs() {
  const std::string grade = LabsFolder() + "/grade";
  return {grade, grade, grade, {"q1", "q2"}};
}

TEST_F(ClassTest, MakesNothingWithoutThePrograms) {
  const std::string out = scratch_ + "/students";
  StudentPrograms without = Programs();
  without.train_with = scratch_ + "/train_with";
  EXPECT_THROW(WriteStudentTree(LabsFolder(), without, out), BrokenEnvironment);
  EXPECT_FALSE(fs::exists(out));
}

// A clone, which has the solutions, is not what a file is compiled beside.
TEST_F(ClassTest, TakesTheProgramsFilesBeforeThoseOfAClone) {
  const fs::path clone = fs::path(scratch_) / "tools/labs/build_it_yourself",
                 before = fs::current_path();
  fs::create_directories(clone / "rank");
  std::ofstream(clone / "rank/lab_wire.h") << "";
  fs::current_path(scratch_);
  const std::string folder = LabsFolder();
  fs::current_path(before);
  EXPECT_NE(fs::path(folder), clone);
}

TEST_F(ClassTest, StudentsGetTemplatesAndAGraderThatRuns) {
  const std::string out = scratch_ + "/students";
  WriteStudentTree(LabsFolder(), Programs(), out);
  for (const Exercise& exercise : Exercises()) {
    const std::string file = out + "/" + exercise.name + ".cc";
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_NE(text.find("TODO"), std::string::npos) << file;
    EXPECT_EQ(text.find("bazelw"), std::string::npos) << file;
    EXPECT_NE(text.find("./grade " + exercise.name + " " + exercise.name + ".cc"),
              std::string::npos)
        << file;
  }
  for (const auto& entry : fs::recursive_directory_iterator(out))
    EXPECT_EQ(entry.path().string().find("solutions"), std::string::npos) << entry.path();
  const CommandEnd end = RunCommand(
      {.words = {out + "/grade", "ring", out + "/ring.cc"}, .memory_bytes = RLIM_INFINITY});
  EXPECT_NE(end.printed.find("of 100 points"), std::string::npos) << end.printed;
  EXPECT_TRUE(fs::exists(out + "/train_with"));
  EXPECT_EQ(fs::read_symlink(out + "/q2"), "q1");
  EXPECT_TRUE(fs::exists(out + "/build_it_yourself/ring/lab_trainer_door.h")) << "of train_with";
  std::ifstream readme(out + "/README.md");
  const std::string text{std::istreambuf_iterator<char>(readme), {}};
  EXPECT_NE(text.find("`q1`, `q2`: questions on"), std::string::npos) << text;
  EXPECT_NE(text.find("`ring.cc` | `build_it_yourself/ring/lab_ring.h` |"), std::string::npos)
      << text;
  EXPECT_THROW(WriteStudentTree(LabsFolder(), Programs(), out), BadInput);
}

}  // namespace
}  // namespace torus::tools::labs::testing
