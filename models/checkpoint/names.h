// Names of published weights that differ from those of the models that they are for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus {

// All names under which a file may hold the model's tensors: those of its state and aliases.
std::set<std::string> NamesOf(const nn::Module& model);

// What FitNames changed: {"bert.gamma", "bert.weight"}; the second empty for a tensor left out.
struct Renamed {
  std::string from, to;
};

// Renames what is known to differ, and leaves the rest for LoadStateDict to complain about:
//   module.X         to X: saved from torch.nn.DataParallel
//   X                to transformer.X or roberta.X where the model has that name and not X, and the
//                    file none that begins so: saved without a head
//   X.gamma, X.beta  to X.weight, X.bias where the model has those: converted from TensorFlow
//   X.attn.bias, X.attn.masked_bias, X.position_ids, where the model has no such name: constants
//                    that older versions of transformers saved; left out
std::vector<NamedTensor> FitNames(const nn::Module& model, std::vector<NamedTensor> state,
                                  std::vector<Renamed>* renamed = nullptr);

}  // namespace torus
