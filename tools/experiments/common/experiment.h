// Experiment: a published table, and how it is made here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipes/study/page.h"
#include "recipes/study/run_study.h"
#include "tools/experiments/common/options.h"
#include "tools/experiments/common/training.h"

namespace torus::experiments {

using Runs = std::vector<study::FinishedRun>;

struct Experiment {
  std::string name;
  std::string about;  // a sentence, for --help
  // What is to be trained, rows without a codec before those that lean on them. Empty: nothing is.
  std::function<std::vector<Training>(Scale)> plan;
  // What is shown of the runs that are done; those left out for lack of data are not among them.
  std::function<study::Page(Scale, const Runs&)> page;
};

}  // namespace torus::experiments
