// Generates text with a GPT-2.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "recipes/generate/sampling.h"

namespace torus::recipes {

struct GenerateOptions {
  std::string model;      // a Hugging Face folder: config.json, model.safetensors
  std::string vocab_dir;  // of the tokenizer; empty: the folder `model`
  // A token that ends a text ("<|endoftext|>"), written in the prompt, is that token. Empty: the
  // text begins behind such a token, as the model's texts do.
  std::string prompt = "\n";
  bool special_tokens = false;  // every special token that is written in the prompt is one token
  int64_t tokens = 100;         // to add at most
  // The most tokens that the model sees at once; 0: as many as a row of its training had, if the
  // folder says so (recipes/model/trained_length.h), else as many as it has positions.
  int64_t length = 0;
  SamplingOptions sampling;
  uint64_t seed = 1;              // of the draws: the same seed gives the same text
  std::string precision = "f32";  // or "bf16"; of products and attention
  bool emulate = false;           // emulates bf16: rounds to it and computes in f32
  std::string device = "cpu";     // or "cuda": the first GPU
  // A requested stop, from any thread, ends the text before its next token.
  std::stop_token stop_token = {};
};

// Returns the text that follows the prompt, until the model ends it, there are `tokens` new tokens,
// or it is stopped. The text may be longer than the model's context. Calls `on_text` for each piece as it is
// generated, first for the prompt, and `on_warning` once if `length` goes beyond the training.
// Throws BadInput if the folder holds no GPT-2, the prompt is empty and the tokenizer has no token
// that ends a text, `length` is more than the model's positions, or the vocabulary has more tokens
// than the model; also the errors of CheckedPrecision and CheckedDevice.
std::string Generate(const GenerateOptions& options,
                     const std::function<void(const std::string& piece)>& on_text = {},
                     const std::function<void(const std::string& line)>& on_warning = {});

}  // namespace torus::recipes
