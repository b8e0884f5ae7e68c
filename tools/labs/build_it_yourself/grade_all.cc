// tools/labs:grade_all: grades all files that a class has handed in, as one table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "runtime/io/file.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/class_table.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"

namespace torus::tools {
namespace {

int Main(int argc, char** argv) {
  std::string folder, csv;
  labs::GradeOptions options;
  CLI::App app("Grades the solutions of a class: one folder per student, one file per exercise.",
               "grade_all");
  app.add_option("folder", folder,
                 "Folder with a folder for each student (anna/), which has files like ring.cc")
      ->required();
  app.add_option("--csv", csv, "Write the table to this CSV file");
  app.add_option("--seed", options.seed,
                 "Seed for the hidden sizes, ranks and values; the same for all students")
      ->capture_default_str();
  if (PrintsHelp(app, argc, argv)) return 0;
  labs::Compiler compiler(labs::LabsFolder());
  const auto students = labs::GradeClass(compiler, UserPath(folder), options);
  fmt::print("{}", labs::ToText(students));
  if (csv.empty()) return 0;
  io::OutputFile file(UserPath(csv));
  file.Write(labs::ToCsv(students));
  file.Close(false);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("grade_all", [&] { return torus::tools::Main(argc, argv); });
}
