// KeptCurves: trains the curves of a question and keeps each in the question's folder, so that a
// question that was ended early goes on behind its last complete curve.
#pragma once

#include <string>

#include "recipes/study/run_store.h"
#include "tools/labs/questions/curve.h"

namespace torus::labs {

class KeptCurves {
 public:
  // In the folder "curves" of options.out, which no other process may use meanwhile (BadInput).
  KeptCurves(const LabOptions& options, Tell tell);

  // TrainCurve, or what it returned before under this name, with these settings and options.
  // `parts` must follow from these. A curve has neither the losses of its steps nor events.
  Curve Train(const std::string& name, const recipes::Settings& settings, LabParts parts);

 private:
  const LabOptions options_;
  const Tell tell_;
  study::RunStore store_;
};

}  // namespace torus::labs
