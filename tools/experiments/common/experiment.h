// Experiment: a published table, and how to reproduce it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipes/study/page.h"
#include "tools/experiments/common/options.h"
#include "tools/experiments/common/training.h"

namespace torus::study {
struct FinishedRun;
}

namespace torus::experiments {

using Runs = std::vector<study::FinishedRun>;

struct Experiment {
  std::string name;
  std::string about;  // a sentence, for --help
  // What to train, baselines without a codec before the rows that refer to them. Empty: nothing.
  std::function<std::vector<Training>(Scale)> plan;
  // The page for the runs that are done, without those that were skipped for lack of data.
  std::function<study::Page(Scale, const Runs&)> page;
};

}  // namespace torus::experiments
