#include "tools/labs/build_it_yourself/grader/class_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "recipes/study/escape.h"
#include "runtime/error.h"
#include "tools/common/stop_signal.h"
#include "tools/labs/build_it_yourself/grader/plain_text.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools::labs {
namespace {

namespace fs = std::filesystem;

bool IsGraded(const std::string& file) {
  return std::ranges::any_of(
      Exercises(), [&](const Exercise& exercise) { return file == exercise.name + ".cc"; });
}

// What lies in a student's folder and is no exercise's file, but for hidden files.
std::vector<std::string> PassedOverIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code cannot_be_read;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, cannot_be_read)) {
    const std::string name = entry.path().filename().string();
    if (!IsGraded(name) && !name.starts_with('.')) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string PassedOverText(const StudentGrades& row) {
  std::vector<std::string> names;
  for (const Exercise& exercise : Exercises()) names.push_back(exercise.name + ".cc");
  std::string text;
  for (const std::string& file : row.passed_over)
    text += fmt::format("{}: {} is not graded: no exercise has that name; there are {}\n",
                        PlainText(row.student), PlainText(file), fmt::join(names, ", "));
  return text;
}

std::vector<fs::path> FoldersIn(const std::string& folder) {
  Require(fs::is_directory(folder), "grade_all", "there is no folder {}", folder);
  std::vector<fs::path> folders;
  std::error_code leads_nowhere;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory(leads_nowhere)) folders.push_back(entry.path());
  Require(!folders.empty(), "grade_all", "{} has no folders, one for each student", folder);
  std::ranges::sort(folders);
  return folders;
}

// Without points, whatever stands in its way: one file must not keep a class from its grades.
Grade Unread(const Exercise& exercise, const std::string& file, const std::string& why,
             const GradeOptions& options) {
  Grade grade{exercise.name, file, options.seed, "", {}};
  for (const TestCase& test : exercise.tests)
    grade.tests.push_back({test.name, test.about, 0, test.points, why});
  return grade;
}

// None where nothing is handed in, and after a signal that ends the program.
std::optional<Grade> GradeOf(Compiler& compiler, const Exercise& exercise, const fs::path& folder,
                             const GradeOptions& options) {
  if (StopSignal() != 0) return std::nullopt;
  const std::string file = (folder / (exercise.name + ".cc")).string();
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (fs::is_regular_file(status)) return GradeFile(compiler, exercise, file, options);
  return Unread(exercise, file,
                error ? "it cannot be read: " + error.message() : "it is no regular file", options);
}

std::string FirstReason(const Grade& grade) {
  for (const TestResult& test : grade.tests)
    if (!test.reason.empty()) return fmt::format("{}: {}", test.name, test.reason);
  return "";
}

size_t NameWidth(const std::vector<StudentGrades>& students) {
  size_t width = 7;
  for (const StudentGrades& row : students) width = std::max(width, PlainText(row.student).size());
  return width;
}

}  // namespace

std::vector<StudentGrades> GradeClass(Compiler& compiler, const std::string& folder,
                                      const GradeOptions& options, const ClassProgress& progress) {
  std::vector<StudentGrades> students;
  for (const fs::path& path : FoldersIn(folder)) {
    StudentGrades& row =
        students.emplace_back(StudentGrades{path.filename().string(), {}, PassedOverIn(path)});
    for (const Exercise& exercise : Exercises())
      if (auto grade = GradeOf(compiler, exercise, path, options); grade && !grade->stopped) {
        if (progress.on_file) progress.on_file(row.student, *grade);
        row.grades.emplace(exercise.name, std::move(*grade));
      }
    if (progress.on_student) progress.on_student(students);
    if (StopSignal() != 0) break;
  }
  return students;
}

std::string ToText(const std::vector<StudentGrades>& students) {
  const size_t width = NameWidth(students);
  std::string text = fmt::format("{:<{}}", "student", width), reasons;
  for (const Exercise& exercise : Exercises()) text += fmt::format("  {:>8}", exercise.name);
  for (const StudentGrades& row : students) {
    const std::string name = PlainText(row.student);
    text += fmt::format("\n{:<{}}", name, width);
    for (const Exercise& exercise : Exercises()) {
      const auto found = row.grades.find(exercise.name);
      const bool there = found != row.grades.end();
      text += fmt::format("  {:>8}", there ? std::to_string(found->second.points()) : "-");
      if (there && found->second.points() < found->second.of())
        reasons += fmt::format("{}, {}: {}\n", name, exercise.name, FirstReason(found->second));
    }
    reasons += PassedOverText(row);
  }
  return text + "\n" + (reasons.empty() ? "" : "\n" + reasons);
}

std::string ToCsv(const std::vector<StudentGrades>& students) {
  std::string csv = "student";
  for (const Exercise& exercise : Exercises()) csv += fmt::format(",{}", exercise.name);
  for (const StudentGrades& row : students) {
    csv += fmt::format("\n{}", study::CsvField(row.student));
    for (const Exercise& exercise : Exercises()) {
      const auto found = row.grades.find(exercise.name);
      csv += found == row.grades.end() ? "," : fmt::format(",{}", found->second.points());
    }
  }
  return csv + "\n";
}

nlohmann::json ToJson(const std::vector<StudentGrades>& students) {
  nlohmann::json all = nlohmann::json::array();
  for (const StudentGrades& row : students) {
    nlohmann::json grades = nlohmann::json::array();
    for (const auto& [exercise, grade] : row.grades) grades.push_back(ToJson(grade));
    all.push_back({{"student", row.student}, {"grades", grades}, {"passed_over", row.passed_over}});
  }
  return all;
}

std::string ToJUnit(const std::vector<StudentGrades>& students) {
  std::string suites;
  for (const StudentGrades& row : students)
    for (const auto& [exercise, grade] : row.grades)
      suites += TestSuite(grade, row.student + "." + exercise);
  return fmt::format("{}<testsuites>\n{}</testsuites>\n", kXmlBegin, suites);
}

}  // namespace torus::tools::labs
