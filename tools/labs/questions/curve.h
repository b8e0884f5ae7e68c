// A training run over some epochs, for the questions that compare accuracy.
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

// Trains o.epochs epochs, then evaluates on the test images. Takes the numbers of images and the
// links from `o`, and everything else in `parts` as it is.
Curve TrainCurve(const LabOptions& o, const std::string& name, const recipes::Settings& settings,
                 LabParts parts, const Tell& tell);

// "NAME: test accuracy 61.2 %".
std::string TestLine(const Curve& curve);

// "batch 128, 1 rank": the run with which the largest batch on all ranks is compared.
std::string SmallName(const LabOptions& o);

// The curves' training accuracy by epoch, and their training loss.
study::Plot AccuracyPlot(const std::vector<Curve>& curves);
study::Plot LossPlot(const std::vector<Curve>& curves);

}  // namespace torus::labs
