// tools/labs:grade_all: grades all files that a class has handed in, as one table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/class_table.h"
#include "tools/labs/build_it_yourself/grader/confine.h"
#include "tools/labs/build_it_yourself/grader/grade_flags.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools {
namespace {

int Main(int argc, char** argv) {
  std::string folder, csv;
  labs::GradeFlags flags;
  CLI::App app("Grades the solutions of a class: one folder per student, one file per exercise.",
               "grade_all");
  app.add_option("folder", folder,
                 "Folder with a folder for each student (anna/), which has files like ring.cc")
      ->required();
  app.add_option("--csv", csv, "Write the table to this CSV file");
  AddGradeFlags(app, "all grades", flags);
  if (PrintsHelp(app, argc, argv)) return 0;
  labs::HideMemory();
  labs::Compiler compiler(labs::LabsFolder());
  const auto students = labs::GradeClass(compiler, UserPath(folder), flags.grade);
  fmt::print("{}", labs::ToText(students));
  labs::WriteIfNamed(csv, labs::ToCsv(students));
  labs::WriteIfNamed(flags.json, labs::JsonText(labs::ToJson(students)));
  labs::WriteIfNamed(flags.junit, labs::ToJUnit(students));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("grade_all", [&] { return torus::tools::Main(argc, argv); });
}
