// A training of some epochs, as the questions on accuracy compare them.
#pragma once

#include <string>
#include <vector>

#include "tools/labs/questions/lab_form.h"
#include "tools/labs/questions/lab_run.h"

namespace torus::labs {

struct Curve {
  std::string name;
  int64_t batch = 0;  // of all ranks
  std::vector<Epoch> epochs;
  TestScore test;  // after the last
};

// o.epochs of them, then the test images. `parts` as they are, but for the numbers of images and
// the links.
Curve TrainCurve(const LabOptions& o, const std::string& name, const recipes::Settings& settings,
                 LabParts parts, const Tell& tell);

// "batch 128, 1 rank": the run that the largest batch on all ranks is compared with.
std::string SmallName(const LabOptions& o);

// Their training accuracy by epoch, and their training loss.
study::Plot AccuracyPlot(const std::vector<Curve>& curves);
study::Plot LossPlot(const std::vector<Curve>& curves);

}  // namespace torus::labs
