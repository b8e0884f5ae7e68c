// tools/labs:grade: grades a student's file for an exercise of the labs.
#include "tools/labs/build_it_yourself/grader/grade.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/common/help_text.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/stop_signal.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/confine.h"
#include "tools/labs/build_it_yourself/grader/grade_flags.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools {
namespace {

struct Flags {
  std::string exercise, file;
  labs::GradeFlags grade;
};

void AddFlags(CLI::App& app, Flags& flags) {
  std::vector<std::pair<std::string, std::string>> exercises;
  for (const labs::Exercise& exercise : labs::Exercises())
    exercises.emplace_back(exercise.name, exercise.about);
  app.add_option("exercise", flags.exercise, Choices("Exercise", exercises))->required();
  app.add_option("file", flags.file, "Your source file")->required();
  AddGradeFlags(app, "the grade", flags.grade);
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
  CatchStopSignals();
  labs::CheckGradeOutputs("grade", flags.grade);
  labs::HideMemory();
  labs::Compiler compiler(labs::LabsFolder());
  labs::Grade grade = labs::GradeFile(compiler, exercise, UserPath(flags.file), flags.grade.grade);
  grade.file = flags.file;
  fmt::print("{}", labs::ToText(grade));
  if (grade.stopped) {
    fmt::print("stopped: this is no grade, and no file was written\n");
    return 128 + StopSignal();
  }
  labs::WriteIfNamed(flags.grade.json, labs::JsonText(labs::ToJson(grade)));
  labs::WriteIfNamed(flags.grade.junit, labs::ToJUnit(grade));
  return grade.points() == grade.of() ? 0 : 3;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("grade", [&] { return torus::tools::Main(argc, argv); });
}
