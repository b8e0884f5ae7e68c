// Question 7: whether gradients alone suffice.
#pragma once

#include <string>
#include <vector>

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

// How replicas begin, and what they exchange.
struct DriftCase {
  std::string name;
  bool shares_weights = true;    // rank 0's initial weights go to all; else each rank has its own
  bool shares_gradients = true;  // averaged; else each steps by its own
};
std::vector<DriftCase> DriftCases();

struct DriftCurve {
  DriftCase of;
  std::vector<double> distances;  // largest of a rank from rank 0, after 0, 1, ... steps
  std::vector<double> losses;     // of each step, mean over the ranks
  double norm = 0;                // of rank 0's weights at the end
};

DriftCurve MeasureDrift(const LabOptions& o, const DriftCase& of, const Tell& tell);

Lab GradientsAloneLab();

}  // namespace torus::labs
