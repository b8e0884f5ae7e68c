// Finds the model's weights among all that a file holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/checkpoint/names.h"
#include "runtime/io/safetensors.h"

namespace torus {

// What a file or folder holds.
struct FileWeights {
  std::vector<NamedTensor> tensors;  // under their full names: "state_dict.module.conv1.weight"
  NarrowTypes narrow;                // those that are held in a wider type
  std::string inner;                 // as in TorchFile
  std::vector<std::string> others;   // as in TorchFile
  // Where the index of a folder's shards differs from them. A tensor that is missing for that
  // reason may be one that is tied to another, which only the model knows.
  std::vector<std::string> differences;
};

// What was taken from a file, and what was left there.
struct TakenWeights {
  std::string part;               // what the names of all taken tensors begin with; often empty
  int64_t tensors = 0;            // that were taken
  std::vector<std::string> left;  // "optimizer (122 tensors)", "epoch"
  std::vector<std::string> differences;  // as in FileWeights

  // "x.pth: takes state_dict.module (62 tensors); leaves optimizer (122 tensors), epoch". Empty if
  // all of the file was taken.
  std::string Line(const std::string& file) const;
};

// A part of a file, as a model takes it.
struct WeightsPart {
  TakenWeights taken;                // what it is, and what was left
  std::vector<NamedTensor> tensors;  // with names behind taken.part and its dot
  // What else lies there, by such names: "torch._utils._rebuild_sparse_tensor(...)", "3".
  std::map<std::string, std::string> others;
};

// The tensors of `file` whose names have a common beginning, cut off, and fit the model best: most
// of the model's names (as FitNames fits them), then most shapes, then fewest others. If several
// such parts fit equally well and are not the same tensors, takes the only one whose name does not
// speak of an average (ema, swa, ...), a best one or an optimizer. `wish` names the part to take,
// or a dictionary that holds it. Throws BadInput tagged `where` if the file has no such part, or if
// the choice is still open; it lists the parts, and names the flag --init-part.
WeightsPart ChoosePart(const nn::Module& model, const FileWeights& file, const NameRules& rules,
                       const std::string& wish, const std::string& where);

// Without a model: the part that `wish` names, or where it is empty all tensors, without the
// keys of the dictionary that holds all of them.
WeightsPart NamedPart(const FileWeights& file, const std::string& wish, const std::string& where);

}  // namespace torus
