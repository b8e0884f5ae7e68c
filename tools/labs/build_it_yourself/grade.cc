// tools/labs:grade: grades a student's file for an exercise of the labs.
#include "tools/labs/build_it_yourself/grader/grade.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "runtime/io/file.h"
#include "tools/common/help_text.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools {
namespace {

struct Flags {
  std::string exercise, file, json, junit;
  labs::GradeOptions grade;
};

void AddFlags(CLI::App& app, Flags& flags) {
  std::vector<std::pair<std::string, std::string>> exercises;
  for (const labs::Exercise& exercise : labs::Exercises())
    exercises.emplace_back(exercise.name, exercise.about);
  app.option_defaults()->always_capture_default();
  app.add_option("exercise", flags.exercise, Choices("Exercise", exercises))
      ->required()
      ->default_str("");
  app.add_option("file", flags.file, "Your source file")->required()->default_str("");
  app.add_option("--seed", flags.grade.seed, "Seed for the hidden sizes, ranks and values");
  app.add_option("--json", flags.json, "Write the grade to this file as JSON")->default_str("");
  app.add_option("--junit", flags.junit, "Write the grade to this file as JUnit XML")
      ->default_str("");
  app.add_option("--cpu-seconds", flags.grade.limits.cpu_seconds,
                 "Limit for a rank's CPU time in a test, in seconds")
      ->check(CLI::Range(1, 3600));
  app.add_option("--memory", flags.grade.limits.memory_bytes,
                 "Limit for a rank's address space: 1GB, or bytes")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{64} << 20, uint64_t{1} << 40));
  app.add_option("--deadline", flags.grade.limits.deadline, "Seconds after which a test is stopped")
      ->check(CLI::Range(0.1, 3600.0));
}

void WriteFile(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  io::OutputFile file(UserPath(path));
  file.Write(text);
  file.Close(false);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Compiles your solution of a lab exercise and grades it. Exit status: 0 full marks; 3 less; "
      "2 no such file or exercise.",
      "grade");
  AddFlags(app, flags);
  if (PrintsHelp(app, argc, argv)) return 0;
  const labs::Exercise& exercise = labs::ExerciseByName(flags.exercise);
  labs::Compiler compiler(labs::LabsFolder());
  labs::Grade grade = labs::GradeFile(compiler, exercise, UserPath(flags.file), flags.grade);
  grade.file = flags.file;
  fmt::print("{}", labs::ToText(grade));
  WriteFile(flags.json, labs::ToJson(grade).dump(2) + "\n");
  WriteFile(flags.junit, labs::ToJUnit(grade));
  return grade.points() == grade.of() ? 0 : 3;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("grade", [&] { return torus::tools::Main(argc, argv); });
}
