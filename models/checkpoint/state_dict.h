// A model's state dict, with the names and layouts of the reference implementation, and its files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus {

// Copies of all parameters, then all buffers, as in the reference's state_dict. A tied parameter
// appears once, under its owner's name.
std::vector<NamedTensor> StateDict(const nn::Module& model);

// Returns `state` with the names, order and shapes of StateDict; values and dtypes stay as they
// are. Does not read the model's own values. Names and shapes must be those of StateDict, except
// for what PyTorch accepts too: any dtype, shape (1) for a scalar, a tied tensor under any of its
// names, and a missing num_batches_tracked (0 then). Otherwise throws one BadInput tagged `where`
// that speaks of all tensors that are missing, surplus, or of a wrong shape. `others` is
// what a file has that is no tensor here, by name: what is missing may be there as a sparse one.
std::vector<NamedTensor> FitState(const nn::Module& model, const std::vector<NamedTensor>& state,
                                  const std::string& where,
                                  const std::map<std::string, std::string>& others = {});

// Copies the state, fitted by FitState, into the model. Tensors are cast to the model's
// dtypes, as load_state_dict does; equal dtypes keep every bit. A model without memory is allocated
// on the CPU. If FitState throws, the model is unchanged.
void LoadStateDict(nn::Module& model, const std::vector<NamedTensor>& state,
                   const std::string& where, const std::map<std::string, std::string>& others = {});

// What LoadMatching has not loaded.
struct StateNotes {
  std::vector<std::string> missing;  // names of the model that are not in the state
  std::vector<std::string> surplus;  // names of the state that are not in the model
  // What is in both and does not fit, and why: "fc.bias is f32 (4) and must be f32 (3)".
  std::vector<std::string> unfit;
};
// As LoadStateDict, but loads what fits and leaves the rest as it is, as load_state_dict with
// strict=False does; and tensors of another shape are left too. Throws BadInput, before anything
// changes, if a tensor that is left has no values yet.
StateNotes LoadMatching(nn::Module& model, const std::vector<NamedTensor>& state);

// Save and load .safetensors files, with the errors of ReadSafetensors and WriteSafetensors. A
// round trip keeps every bit.
void SaveModel(const nn::Module& model, const std::string& path);
void LoadModel(nn::Module& model, const std::string& path);

}  // namespace torus
