// The models whose training steps are timed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/nn/sequential.h"
#include "parallel/optim/optimizer.h"

namespace torus::bench {

struct StepModel {
  std::shared_ptr<nn::Sequential> model;
  std::unique_ptr<parallel::Optimizer> optimizer;
  double learning_rate = 0;
  bool text = false;    // inputs are token ids (N, T), not images (N, H, W, 3)
  int64_t classes = 0;  // of the labels; of a language model: its vocabulary
};

// Their names: "mobilenet_v2", "vgg13", "resnet18", "roberta", "gpt2".
std::vector<std::string> StepModelNames();

// At full size and without dropout (two frameworks draw different numbers), in training mode.
// Images learn by SGD with momentum 0.9 at a rate of 0.01, text by AdamW at 1e-4. BadInput for an
// unknown name.
StepModel MakeStepModel(const std::string& name);

}  // namespace torus::bench
