#include "tools/labs/build_it_yourself/grader/student_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void WriteText(const fs::path& path, const std::string& text) {
  io::OutputFile file(path.string());
  file.Write(text);
  file.Close(false);
}

// The template says how it is graded in a clone; in the folder it is the program beside it.
void CopyTemplate(const fs::path& from, const fs::path& to) {
  std::string text = io::InputFile(from.string()).ReadAll();
  const std::string name = to.stem().string(),
                    clone = fmt::format("./bazelw run //tools/labs:grade -- {0} my_{0}.cc", name);
  const size_t at = text.find(clone);
  TORUS_CHECK(at != std::string::npos, "the template {} does not say: {}", from.string(), clone);
  fs::create_directories(to.parent_path());
  WriteText(to, text.replace(at, clone.size(), fmt::format("./grade {0} {0}.cc", name)));
}

void CopyFolder(const fs::path& from, const fs::path& to, const std::set<std::string>& without) {
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    if (!without.contains(entry.path().filename().string()))
      Copy(entry.path(), to / entry.path().filename());
}

constexpr const char kReadme[] = R"(# Labs on distributed training

The programs here run on Debian 12 with

    sudo apt install g++ libfmt-dev libdnnl2 libhwy1 libpcre2-8-0 libseccomp2

## Questions

{questions}: questions on synchronous SGD that you answer by measuring.
For their images, `TORUS_DATA` names a folder that has the binary version of CIFAR-10 in
`cifar10/cifar-10-batches-bin`.

    ./q1 --blank       # the report to fill in, before anything is measured
    ./q1 --quick       # measures with a part of the images, and writes a page with tables and plots

## Build it yourself

Each file here is an exercise: fill it where it says TODO. What is wanted, and what is graded,
stands in the header.

| Exercise | File | Header |
|---|---|---|
{exercises}
    ./grade ring ring.cc

says which tests give points, and why others do not; `./grade --help` has more. The real trainer
runs with your ring by

    ./train_with --ring ring.cc

(the Debian package `dataset-fashion-mnist` has its images). Its page shows every message of a step.
)";

std::string Readme(const StudentPrograms& programs) {
  std::string exercises;
  for (const Exercise& exercise : Exercises())
    exercises += fmt::format("| {0} | `{1}.cc` | `build_it_yourself/{2}/lab_{2}.h` |\n",
                             exercise.about, exercise.name, exercise.folder);
  return fmt::format(
      fmt::runtime(kReadme),
      fmt::arg("questions", fmt::format("`{}`", fmt::join(programs.questions, "`, `"))),
      fmt::arg("exercises", exercises));
}

void RequireProgram(const std::string& path) {
  if (!fs::is_regular_file(path))
    Throw<BrokenEnvironment>("strip", "the program to hand out is not at {}", path);
}

}  // namespace

void WriteStudentTree(const std::string& labs_folder, const StudentPrograms& programs,
                      const std::string& out) {
  Require(!fs::exists(out), "strip", "{} exists already; give the name of a new folder", out);
  for (const std::string& program : {programs.grade, programs.train_with, programs.question})
    RequireProgram(program);
  const fs::path labs = labs_folder, files = fs::path(out) / "build_it_yourself";
  std::set<std::string> folders{"rank"};
  std::set<std::string> to_fill;
  for (const Exercise& exercise : Exercises()) {
    folders.insert(exercise.folder);
    to_fill.insert(exercise.name + ".cc");
    CopyTemplate(labs / exercise.folder / (exercise.name + ".cc"),
                 fs::path(out) / (exercise.name + ".cc"));
  }
  for (const std::string& folder : folders) CopyFolder(labs / folder, files / folder, to_fill);
  Copy(programs.grade, fs::path(out) / "grade");
  Copy(programs.train_with, fs::path(out) / "train_with");
  const std::string& first = programs.questions.at(0);
  Copy(programs.question, fs::path(out) / first);
  for (const std::string& question : programs.questions)
    if (question != first) fs::create_symlink(first, fs::path(out) / question);
  WriteText(fs::path(out) / "README.md", Readme(programs));
}

}  // namespace torus::tools::labs
