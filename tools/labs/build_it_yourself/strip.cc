// tools/labs:strip: makes the folder that students get.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/build_it_yourself/grader/student_tree.h"
#include "tools/labs/questions/lab.h"

namespace torus::tools {
namespace {

int Main(int argc, char** argv) {
  std::string out;
  CLI::App app("Makes the folder that students receive: the programs, templates and headers.",
               "strip");
  app.add_option("folder", out, "A new folder")->required();
  if (PrintsHelp(app, argc, argv)) return 0;
  const std::string here = labs::LabsFolder();
  labs::StudentPrograms programs{.grade = here + "/grade",
                                 .train_with = here + "/../train_with/train_with",
                                 .question = here + "/../questions/q1",
                                 .questions = {}};
  for (const torus::labs::Lab& lab : torus::labs::Labs()) programs.questions.push_back(lab.name);
  labs::WriteStudentTree(here, programs, UserPath(out));
  fmt::print("{}\n", UserPath(out));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("strip", [&] { return torus::tools::Main(argc, argv); });
}
