// A student's ring, compiled and loaded into this process.
#pragma once

#include <string>
#include <vector>

#include "lab_trainer_door.h"
#include "tools/labs/build_it_yourself/grader/compiler.h"

namespace torus::tools::labs {

using RingFunction = decltype(&LabRingAllReduceMean);

// Each rank has a copy of its own, with variables of its own: what is global in the student's file
// is not shared by ranks that are threads, as it is not by the grader's processes.
class RingLibrary {
 public:
  // Compiles `file` and loads it for `ranks` ranks, until the program ends. BadInput with the
  // compiler's messages where it does not compile.
  RingLibrary(Compiler& compiler, const std::string& file, int ranks);

  RingFunction function(int rank) const { return functions_.at(static_cast<size_t>(rank)); }
  int ranks() const { return static_cast<int>(functions_.size()); }
  const std::string& messages() const { return messages_; }  // of the compiler: warnings

 private:
  std::vector<RingFunction> functions_;
  std::string messages_;
};

}  // namespace torus::tools::labs
