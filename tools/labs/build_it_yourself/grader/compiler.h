// Compiles a file of a lab, by the machine's own g++, with the adapter that it is written against.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/grader/exercise.h"
#include "tools/labs/build_it_yourself/grader/scratch_folder.h"

namespace torus::tools::labs {

struct Compiled {
  std::string path;      // empty where it does not compile
  std::string messages;  // of the compiler, warnings too
};

// What the compiler may take is bounded too: CPU time, memory, and minutes.
class Compiler {
 public:
  explicit Compiler(std::string labs_folder) : labs_(std::move(labs_folder)) {}

  // The program of a rank; works until this object is gone. BadInput where `file` is none.
  Compiled Program(const Exercise& exercise, const std::string& file);
  // A shared object with `adapter`, a source of the exercise's folder. Copies of it, loaded beside
  // each other, share no variables.
  Compiled SharedObject(const Exercise& exercise, const std::string& adapter,
                        const std::string& file);

 private:
  const std::vector<std::string>& DriverOf(const Exercise& exercise);
  std::vector<std::string> Flags(const Exercise& exercise) const;
  std::string NewPath();

  const std::string labs_;
  ScratchFolder scratch_;
  int made_ = 0;
  std::map<std::string, std::vector<std::string>> drivers_;  // object files, by folder
};

}  // namespace torus::tools::labs
