#include "tools/labs/build_it_yourself/grader/class_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "recipes/study/escape.h"
#include "runtime/error.h"

namespace torus::tools::labs {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FoldersIn(const std::string& folder) {
  Require(fs::is_directory(folder), "grade_all", "there is no folder {}", folder);
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) folders.push_back(entry.path());
  Require(!folders.empty(), "grade_all", "{} has no folders, one for each student", folder);
  std::ranges::sort(folders);
  return folders;
}

std::string FirstReason(const Grade& grade) {
  for (const TestResult& test : grade.tests)
    if (!test.reason.empty()) return fmt::format("{}: {}", test.name, test.reason);
  return "";
}

size_t NameWidth(const std::vector<StudentGrades>& students) {
  size_t width = 7;
  for (const StudentGrades& row : students) width = std::max(width, row.student.size());
  return width;
}

}  // namespace

std::vector<StudentGrades> GradeClass(Compiler& compiler, const std::string& folder,
                                      const GradeOptions& options) {
  std::vector<StudentGrades> students;
  for (const fs::path& path : FoldersIn(folder)) {
    StudentGrades& row = students.emplace_back(StudentGrades{path.filename().string(), {}});
    for (const Exercise& exercise : Exercises()) {
      const fs::path file = path / (exercise.name + ".cc");
      if (fs::is_regular_file(file))
        row.grades.emplace(exercise.name, GradeFile(compiler, exercise, file.string(), options));
    }
  }
  return students;
}

std::string ToText(const std::vector<StudentGrades>& students) {
  const size_t width = NameWidth(students);
  std::string text = fmt::format("{:<{}}", "student", width), reasons;
  for (const Exercise& exercise : Exercises()) text += fmt::format("  {:>8}", exercise.name);
  for (const StudentGrades& row : students) {
    text += fmt::format("\n{:<{}}", row.student, width);
    for (const Exercise& exercise : Exercises()) {
      const auto found = row.grades.find(exercise.name);
      const bool there = found != row.grades.end();
      text += fmt::format("  {:>8}", there ? std::to_string(found->second.points()) : "-");
      if (there && found->second.points() < found->second.of())
        reasons +=
            fmt::format("{}, {}: {}\n", row.student, exercise.name, FirstReason(found->second));
    }
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

}  // namespace torus::tools::labs
