// Convert: converts a file of weights to another format, in one call. tools/convert is its command
// line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/checkpoint/weights_part.h"
#include "runtime/tensor.h"

namespace torus {
struct ModelDescriptor;
}

namespace torus::recipes {

// What to convert to what; the flags of tools/convert.
struct ConvertOptions {
  // A .safetensors file, a file written by torch.save, a Hugging Face folder, or a run's
  // checkpoint.
  std::string input = {};
  // The file to write if it ends in .safetensors. Any other name is a Hugging Face folder, new or
  // empty; the input must then be such a folder too, and its tokenizer is copied. Empty: nothing is
  // written.
  std::string output = {};
  bool overwrite = false;  // replaces an output file that is there already
  // As Settings::model: tensors get this model's names, and all must fit. Empty: names stay.
  std::string model = {};
  // Which tensors of the file; empty: with `model` those that fit it best (ChoosePart), else all.
  std::string part = {};
  int64_t classes = 0;  // of that model; for a language model its vocabulary
  // Of floating-point tensors: "f32", "f16", "bf16", "f64"; empty: unchanged.
  std::string dtype = {};
  uint64_t shard_bytes = 5'000'000'000;  // the largest shard of a folder
  // Called for each name that is mapped to one of `model`'s, before tensors that do not fit are
  // refused.
  std::function<void(const Renamed&)> on_renamed = {};
  // As Settings::models.
  const std::vector<ModelDescriptor>* models = nullptr;
};

// Values of a tensor that `dtype` cannot hold, so that they became infinite.
struct Overflowed {
  std::string name;    // of the tensor
  int64_t values = 0;  // how many became infinite
};

// What was written, and what was not.
struct ConvertResult {
  std::vector<NamedTensor> tensors;    // as they were written
  NarrowTypes narrow;                  // those written in a type that tensors have not
  TakenWeights taken;                  // from the input, and what was left there
  std::vector<Overflowed> overflowed;  // by `dtype`; empty if all values fit
  std::vector<std::string> others;     // what else a torch.save file holds: "best_prec1 = 91.73"
};

// Throws BadInput if options contradict each other (it names their flags) or tensors do not fit the
// model (it lists them all), and the errors of the readers and writers. Nothing is written then.
ConvertResult Convert(const ConvertOptions& options);

}  // namespace torus::recipes
