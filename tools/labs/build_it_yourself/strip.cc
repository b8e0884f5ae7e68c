// tools/labs:strip: makes the folder that students get.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/build_it_yourself/grader/student_tree.h"

namespace torus::tools {
namespace {

int Main(int argc, char** argv) {
  std::string out;
  CLI::App app("Makes the folder that students receive: templates, headers and the grader.",
               "strip");
  app.add_option("folder", out, "A new folder")->required();
  if (PrintsHelp(app, argc, argv)) return 0;
  const std::string labs_folder = labs::LabsFolder();
  labs::WriteStudentTree(labs_folder, labs_folder + "/grade", UserPath(out));
  fmt::print("{}\n", UserPath(out));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("strip", [&] { return torus::tools::Main(argc, argv); });
}
