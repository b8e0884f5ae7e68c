// Question 7: whether sharing gradients is enough.
#pragma once

#include <string>
#include <vector>

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

// How replicas start, and what they exchange.
struct DriftCase {
  std::string name;
  bool shares_weights = true;    // all start with rank 0's weights; else each with its own
  bool shares_gradients = true;  // all step by the mean gradient; else each by its own
};
std::vector<DriftCase> DriftCases();

struct DriftCurve {
  DriftCase of;
  std::vector<double> distances;  // largest distance of a rank from rank 0, after 0, 1, ... steps
  std::vector<double> losses;     // of each step, mean over the ranks
  double norm = 0;                // of rank 0's weights at the end
};

DriftCurve MeasureDrift(const LabOptions& o, const DriftCase& of, const Tell& tell);

Lab GradientsAloneLab();

}  // namespace torus::labs
