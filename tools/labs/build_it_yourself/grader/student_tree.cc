#include "tools/labs/build_it_yourself/grader/student_tree.h"

#include <filesystem>
#include <set>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "tools/labs/build_it_yourself/grader/exercise.h"

namespace torus::tools::labs {
namespace {

namespace fs = std::filesystem;

// A build's files are symbolic links: copies the files that they lead to.
void Copy(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy_file(fs::canonical(from), to);
}

void CopyFolder(const fs::path& from, const fs::path& to, const std::set<std::string>& without) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    if (!without.contains(entry.path().filename().string()))
      Copy(entry.path(), to / entry.path().filename());
}

std::string Readme() {
  std::string text =
      "# Build it yourself\n\nEach file here is an exercise: fill it where it says TODO. What is "
      "wanted, and what is graded, stands in the header.\n\n| Exercise | File | Header |\n"
      "|---|---|---|\n";
  for (const Exercise& exercise : Exercises())
    text += fmt::format("| {0} | `{1}.cc` | `build_it_yourself/{2}/lab_{2}.h` |\n", exercise.about,
                        exercise.name, exercise.folder);
  return text +
         "\nOn Debian 12 with g++ and libfmt-dev:\n\n    ./grade ring ring.cc\n\nsays which tests "
         "give points, and why others do not; `./grade --help` has more.\n";
}

void WriteText(const fs::path& path, const std::string& text) {
  io::OutputFile file(path.string());
  file.Write(text);
  file.Close(false);
}

}  // namespace

void WriteStudentTree(const std::string& labs_folder, const std::string& program,
                      const std::string& out) {
  Require(!fs::exists(out), "strip", "{} exists already; give the name of a new folder", out);
  if (!fs::is_regular_file(program))
    Throw<BrokenEnvironment>("strip", "the program to hand out is not at {}", program);
  const fs::path labs = labs_folder, files = fs::path(out) / "build_it_yourself";
  std::set<std::string> folders{"rank"};
  // What the grader does not compile with: the files to fill in, and the interface to the trainer.
  std::set<std::string> left_out{"lab_trainer_door.h", "trainer_door.cc"};
  for (const Exercise& exercise : Exercises()) {
    folders.insert(exercise.folder);
    left_out.insert(exercise.name + ".cc");
    Copy(labs / exercise.folder / (exercise.name + ".cc"), fs::path(out) / (exercise.name + ".cc"));
  }
  for (const std::string& folder : folders) CopyFolder(labs / folder, files / folder, left_out);
  Copy(program, fs::path(out) / "grade");
  WriteText(fs::path(out) / "README.md", Readme());
}

}  // namespace torus::tools::labs
