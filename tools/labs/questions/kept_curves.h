// KeptCurves: trains the curves of a question and keeps each (KeptRuns).
#pragma once

#include <string>

#include "tools/labs/questions/curve.h"
#include "tools/labs/questions/kept_runs.h"

namespace torus::labs {

class KeptCurves {
 public:
  KeptCurves(const LabOptions& options, Tell tell);

  // TrainCurve, or what it returned before under this name, with these settings and options.
  // `parts` must follow from these. A curve has neither the losses of its steps nor events.
  Curve Train(const std::string& name, const recipes::Settings& settings, LabParts parts);

 private:
  const LabOptions options_;
  const Tell tell_;
  KeptRuns kept_;
};

}  // namespace torus::labs
