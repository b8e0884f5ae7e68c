// Maps names in published weight files to the names of the model.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus {

// How files of a model's reference implementation may name its tensors differently.
struct NameRules {
  // Prefix that names lack in a file saved without a head: "transformer."
  std::string base = {};
  // Suffixes of constants that older versions of the reference saved as tensors.
  std::vector<std::string> constants = {};
  // Prefixes of the tensors of other heads that the reference puts on the same body.
  std::vector<std::string> heads = {};
};

// All names under which a file may hold the model's tensors: names of its state, and aliases.
std::set<std::string> NamesOf(const nn::Module& model);

// A change by FitNames: {"bert.gamma", "bert.weight"}. `to` is empty for a tensor left out.
struct Renamed {
  std::string from, to;
};

// Renames known differences, and leaves it to LoadStateDict to report the rest:
//   module.X         to X: saved from torch.nn.DataParallel
//   X                to BASE.X where the model has that name and not X, and the file none that
//                    begins so: saved without a head
//   X.gamma, X.beta  to X.weight, X.bias where the model has those: converted from TensorFlow
//   the rules' constants, where the model has no such name: left out
std::vector<NamedTensor> FitNames(const nn::Module& model, std::vector<NamedTensor> state,
                                  const NameRules& rules = {},
                                  std::vector<Renamed>* renamed = nullptr);

}  // namespace torus
