// Question 4.2: the remedies for large batches by Goyal et al. 2017 ("Accurate, large minibatch
// SGD: training ImageNet in 1 hour"), added one by one.
#pragma once

#include <string>
#include <vector>

#include "tools/labs/questions/formulas.h"
#include "tools/labs/questions/lab_form.h"
#include "tools/labs/questions/lab_run.h"

namespace torus::labs {

struct Remedies {
  bool linear_scaling = false;       // section 2.1
  bool gradual_warmup = false;       // section 2.2, over the first fifth of the steps
  bool momentum_correction = false;  // section 3; without it: AbsorbedRateSgd
  bool zero_gamma = false;       // section 5.1: the last norm of each residual block starts at 0
  bool rank_batch_norm = false;  // section 2.3: statistics over a rank's own images
};

struct NamedRemedies {
  std::string name;  // "+ gradual warm-up"
  Remedies on;
};
// No remedy, then one more each time, in the order above.
std::vector<NamedRemedies> OneByOne();

// The learning rate of a run of `steps` steps whose batch is `scale` times the small batch.
LargeBatchRate RateOf(const Remedies& on, double base, double scale, int64_t steps);

// Selects from the names of a model's parameters the weights (gamma) of the last batch norm of each
// residual block: "layer1.0.bn2.weight" if there is no "layer1.0.bn3.weight".
std::vector<std::string> LastGammas(const std::vector<std::string>& parameters);

// Settings and parts of a run of `steps` steps with the remedies `on`. With zero_gamma, making the
// model throws BadInput if it has no such blocks.
recipes::Settings SettingsOf(const Remedies& on, recipes::Settings settings);
LabParts PartsOf(const Remedies& on, const recipes::Settings& settings, double scale,
                 int64_t steps);

Lab RemediesLab();

}  // namespace torus::labs
