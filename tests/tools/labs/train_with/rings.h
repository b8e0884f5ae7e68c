// Rings of students, loaded.
#pragma once

#include <memory>
#include <string>

#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/train_with/ring_library.h"

namespace torus::tools::labs::testing {

inline RingLibrary Load(const std::string& file, int ranks) {
  Compiler compiler(LabsFolder());
  return {compiler, file, ranks};
}
inline std::string SolutionFile() { return LabsFolder() + "/solutions/ring.cc"; }
// Of the grader's faults.
inline std::string FaultFile(const std::string& name) {
  return "tests/tools/labs/faults/ring/" + name + ".cc";
}
// Of those that only the trainer's ranks meet.
inline std::string RingFile(const std::string& name) {
  return "tests/tools/labs/train_with/rings/" + name + ".cc";
}

}  // namespace torus::tools::labs::testing
