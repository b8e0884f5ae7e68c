// Compiles a student's file for a lab with the machine's g++, together with the lab's driver or
// adapter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/grader/exercise.h"
#include "tools/labs/build_it_yourself/grader/run_command.h"
#include "tools/labs/build_it_yourself/grader/scratch_folder.h"

namespace torus::tools::labs {

struct Compiled {
  std::string path;      // empty if there is none
  std::string messages;  // of the compiler, warnings too
  std::string why = {};  // there is none: "it does not compile"
};

// Limits the CPU time, memory and total time of the compiler, too.
class Compiler {
 public:
  explicit Compiler(std::string labs_folder) : labs_(std::move(labs_folder)) {}

  // The program of a rank, which exists as long as this object. There is none if the file does not
  // compile, or if it includes another file than headers of its lab or of the system (includes.h).
  // Throws BadInput if `file` is not a file.
  Compiled Program(const Exercise& exercise, const std::string& file);
  // A shared object of the file and `adapter`, a source in the exercise's folder, whose functions
  // the file's calls prefer to those of the process. Copies of it that are loaded into one process
  // share no variables.
  Compiled SharedObject(const Exercise& exercise, const std::string& adapter,
                        const std::string& file);

 private:
  // Object files, compiled the first time.
  const std::vector<std::string>& RankObjects();
  const std::string& DriverOf(const Exercise& exercise);
  std::string OwnObject(const std::string& folder, const std::string& source);
  std::vector<std::string> Flags(const std::string& folder) const;
  CommandEnd Compile(std::vector<std::string> words, const std::vector<std::string>& more) const;
  std::string OtherInclude(const Exercise& exercise, const std::string& file,
                           const std::string& rule);
  std::string NewPath();

  const std::string labs_;
  ScratchFolder scratch_;
  int made_ = 0;
  std::vector<std::string> system_folders_;     // once asked for
  std::vector<std::string> rank_objects_;       // of all exercises
  std::map<std::string, std::string> drivers_;  // by folder
};

}  // namespace torus::tools::labs
