// Maps names in published weight files to the names of the model.
#pragma once

#include <set>
#include <string>
#include <utility>
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
  // Parts of names that older files have, and what stands there now: {".linear_1.", ".0."}
  std::vector<std::pair<std::string, std::string>> parts = {};
};

// All names under which a file may hold the model's tensors: names of its state, and aliases.
std::set<std::string> NamesOf(const nn::Module& model);

// A change by FitNames: {"bert.gamma", "bert.weight"}. `to` is empty for a tensor left out.
struct Renamed {
  std::string from, to;
};

// Finds the model's name of a file's tensor by the known differences:
//   module.X, X.module.Y,   to X, X.Y where the model has that name, and likewise _orig_mod,
//                           _fsdp_wrapped_module and _checkpoint_wrapped_module: the wrappers of
//                           DataParallel, torch.compile, FSDP and recomputation
//   X                to BASE.X where the model has that name and not X, and the file none that
//                    begins so: saved without a head
//   X.gamma, X.beta  to X.weight, X.bias where the model has those: converted from TensorFlow
//   the rules' older parts of names, where the model has the name with the newer one
//   the rules' constants, where the model has no such name: left out
class NameFitter {
 public:
  NameFitter(const nn::Module& model, const NameRules& rules);

  // Empty for a tensor to leave out; `name` itself if the model has none for it. `lacks_base`: no
  // name of the file begins with the rules' base.
  std::string Fit(const std::string& name, bool lacks_base) const;
  // Is one of NamesOf.
  bool IsWanted(const std::string& name) const { return wanted_.contains(name); }
  bool IsBase(const std::string& name) const;     // begins with the rules' base
  bool IsOfAHead(const std::string& name) const;  // begins with one of the rules' heads

 private:
  bool IsConstant(const std::string& name) const;

  const std::set<std::string> wanted_;
  const NameRules rules_;
};

// Fits all names of a file, and leaves it to LoadStateDict to report the rest.
std::vector<NamedTensor> FitNames(const nn::Module& model, std::vector<NamedTensor> state,
                                  const NameRules& rules = {},
                                  std::vector<Renamed>* renamed = nullptr);

}  // namespace torus
