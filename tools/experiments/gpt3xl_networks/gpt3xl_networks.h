// GPT-3 XL in twelve stages on slow networks: simulated at full size from the published rows,
// trained at a small size over emulated links, and with a parameter server.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

extern const std::string_view kGpt3xlNetworksPublished;  // published.tsv

struct NetworkRow {
  double delay = 0;      // seconds, one way
  double bandwidth = 0;  // bits a second
  int replicas = 1;
  std::optional<double> published;  // seconds per iteration; none if the number is withheld
  double predicted = 0;             // with the window of 3 MB
  double without_window = 0;
};

// Every published row with the simulator's prediction. Forward and backward are scaled by one
// factor, which is fitted to the first row only.
std::vector<NetworkRow> PredictNetworks();

Experiment Gpt3xlNetworks();

}  // namespace torus::experiments
