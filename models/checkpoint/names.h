// Names of published weights that differ from those of the models that they are for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus {

// How files of a model's reference may name its tensors otherwise.
struct NameRules {
  // What names lack in a file that was saved without a head: "transformer."
  std::string base = {};
  // Endings of tensors that older versions of the reference saved though they are constants.
  std::vector<std::string> constants = {};
  // Beginnings of the tensors of heads that the reference puts on the same body.
  std::vector<std::string> heads = {};
};

// All names under which a file may hold the model's tensors: those of its state and aliases.
std::set<std::string> NamesOf(const nn::Module& model);

// What FitNames changed: {"bert.gamma", "bert.weight"}; the second empty for a tensor left out.
struct Renamed {
  std::string from, to;
};

// Renames what is known to differ, and leaves the rest for LoadStateDict to complain about:
//   module.X         to X: saved from torch.nn.DataParallel
//   X                to BASE.X where the model has that name and not X, and the file none that
//                    begins so: saved without a head
//   X.gamma, X.beta  to X.weight, X.bias where the model has those: converted from TensorFlow
//   the rules' constants, where the model has no such name: left out
std::vector<NamedTensor> FitNames(const nn::Module& model, std::vector<NamedTensor> state,
                                  const NameRules& rules = {},
                                  std::vector<Renamed>* renamed = nullptr);

}  // namespace torus
