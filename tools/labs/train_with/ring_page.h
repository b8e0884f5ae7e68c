// The page that compares a run with a student's ring to one with the trainer's own.
#pragma once

#include <string>

#include "recipes/report/report.h"
#include "recipes/study/page.h"
#include "tools/labs/train_with/ring_training.h"

namespace torus::tools::labs {

struct RingPageInput {
  std::string file;  // the student's
  RingTraining training;
  recipes::ReportInput ring, own;  // the reports of both runs
};

// A verdict in words, a table of times and bytes, the loss of both, and the messages of a step.
study::Page RingPage(const RingPageInput& input);

}  // namespace torus::tools::labs
