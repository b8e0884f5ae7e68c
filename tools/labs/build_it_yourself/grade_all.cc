// tools/labs:grade_all: grades all files that a class has handed in, as one table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/stop_signal.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/class_table.h"
#include "tools/labs/build_it_yourself/grader/confine.h"
#include "tools/labs/build_it_yourself/grader/grade_flags.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/build_it_yourself/grader/plain_text.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools {
namespace {

struct Flags {
  std::string folder, csv;
  labs::GradeFlags grade;
};

using Students = std::vector<labs::StudentGrades>;
using Writer = void (*)(const std::string& path, const std::string& text);

void WriteForms(const Flags& flags, const Students& students, Writer write) {
  write(flags.csv, labs::ToCsv(students));
  write(flags.grade.json, labs::JsonText(labs::ToJson(students)));
  write(flags.grade.junit, labs::ToJUnit(students));
}

// A class takes hours: whoever ends the program early has what is graded by then.
labs::ClassProgress Progress(const Flags& flags) {
  return {.on_file =
              [](const std::string& student, const labs::Grade& grade) {
                fmt::print("{}, {}: {} of {} points\n", labs::PlainText(student), grade.exercise,
                           grade.points(), grade.of());
                std::fflush(stdout);
              },
          .on_student =
              [&flags](const Students& so_far) { WriteForms(flags, so_far, labs::WriteSoFar); }};
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Grades the solutions of a class: one folder per student, one file per exercise.",
               "grade_all");
  app.add_option("folder", flags.folder,
                 "Folder with a folder for each student (anna/), which has files like ring.cc")
      ->required();
  app.add_option("--csv", flags.csv, "Write the table to this CSV file. Default: none");
  AddGradeFlags(app, "all grades", flags.grade);
  if (PrintsHelp(app, argc, argv)) return 0;
  CatchStopSignals();
  CheckOutput("grade_all", "--csv", UserPath(flags.csv));
  labs::CheckGradeOutputs("grade_all", flags.grade);
  labs::HideMemory();
  labs::Compiler compiler(labs::LabsFolder());
  const Students students =
      labs::GradeClass(compiler, UserPath(flags.folder), flags.grade.grade, Progress(flags));
  fmt::print("\n{}", labs::ToText(students));
  if (StopSignal() != 0) {
    fmt::print("stopped: this is what was graded by then\n");
    WriteForms(flags, students, labs::WriteSoFar);
    return 128 + StopSignal();
  }
  WriteForms(flags, students, labs::WriteIfNamed);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("grade_all", [&] { return torus::tools::Main(argc, argv); });
}
