// RingLibrary: a student's ring, compiled and loaded into this process.
#pragma once

#include <string>
#include <vector>

#include "lab_trainer_door.h"
#include "tools/labs/build_it_yourself/grader/compiler.h"

namespace torus::tools::labs {

using RingFunction = decltype(&LabRingAllReduceMean);

// Each rank gets its own copy with its own variables. So ranks, which are threads here, do not
// share the global variables of the student's file, just as the grader's processes do not.
class RingLibrary {
 public:
  // Compiles `file` and loads it for `ranks` ranks; it stays loaded until the program ends. Throws
  // BadInput, with the compiler's messages, if it does not compile.
  RingLibrary(Compiler& compiler, const std::string& file, int ranks);

  RingFunction function(int rank) const { return functions_.at(static_cast<size_t>(rank)); }
  int ranks() const { return static_cast<int>(functions_.size()); }
  const std::string& messages() const { return messages_; }  // of the compiler: warnings

 private:
  std::vector<RingFunction> functions_;
  std::string messages_;
};

}  // namespace torus::tools::labs
