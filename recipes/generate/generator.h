// Text from a GPT-2.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "recipes/generate/sampling.h"

namespace torus::recipes {

struct GenerateOptions {
  std::string model;      // a folder of Hugging Face's: config.json, model.safetensors
  std::string vocab_dir;  // of the tokenizer; empty: that folder
  std::string prompt = "\n";
  int64_t tokens = 100;  // to add at most
  SamplingOptions sampling;
  uint64_t seed = 1;              // of the draws: the same seed gives the same text
  std::string precision = "f32";  // of products and attention: or "bf16"
  bool emulate = false;           // bf16 by rounding to it and computing in f32
  std::string device = "cpu";     // or "cuda": the first GPU
};

// What comes behind the prompt, until the model ends its text or `tokens` are reached. A text may
// be longer than the model looks back. `on_text`: told of each piece as it comes, of the prompt
// first. BadInput for a folder that holds no GPT-2, for a prompt without tokens, and where the
// vocabulary has more tokens than the model; errors of CheckedPrecision and CheckedDevice.
std::string Generate(const GenerateOptions& options,
                     const std::function<void(const std::string& piece)>& on_text = {});

}  // namespace torus::recipes
