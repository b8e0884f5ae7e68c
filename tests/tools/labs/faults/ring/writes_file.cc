// Fault: writes a log, which may overwrite a file of the person who grades.
#include <fstream>
#include <stdexcept>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  std::ofstream log("kept.txt");
  if (!log) throw std::runtime_error("cannot write kept.txt");
  log << "here" << std::endl;
}

}  // namespace lab
