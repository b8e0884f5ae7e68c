// Generates text with a language model: GPT-2 or Llama.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "recipes/generate/sampling.h"

namespace torus::recipes {

// Which model continues which text, and how; the flags of tools/generate.
struct GenerateOptions {
  std::string model = {};      // a Hugging Face folder: config.json, model.safetensors
  std::string vocab_dir = {};  // of the tokenizer; empty: the folder `model`
  // A token that ends a text ("<|endoftext|>"), written in the prompt, is that token. Empty: the
  // text begins behind the tokenizer's first token, or such a one, as the model's texts do.
  std::string prompt = "\n";
  bool special_tokens = false;  // every special token that is written in the prompt is one token
  int64_t tokens = 100;         // to add at most
  std::vector<std::string> stop = {};  // a text ends before the first of these that it would have
  // The most tokens that the model sees at once; 0: as many as a row of its training had, if the
  // folder says so (recipes/model/trained_length.h), else as many as it has positions.
  int64_t length = 0;
  SamplingOptions sampling = {};  // how the next token is chosen
  uint64_t seed = 1;              // of the draws: the same seed gives the same text
  std::string precision = "f32";  // or "bf16"; of products and attention
  bool emulate = false;           // emulates bf16: rounds to it and computes in f32
  std::string device = "cpu";     // or "cuda": the first GPU
  // A requested stop, from any thread, ends the text before its next token.
  std::stop_token stop_token = {};
};

// Continues texts with a model that is read once. Not thread-safe.
class Generator {
 public:
  // Throws BadInput if the folder holds no model of next tokens, `length` is more than the model's
  // positions, `tokens` is negative, or the vocabulary has more tokens than the model; also the
  // errors of CheckedPrecision and CheckedDevice. Takes no notice of `options.prompt`.
  explicit Generator(const GenerateOptions& options);
  ~Generator();

  // Returns the texts that follow the prompts, each until the model or a string of `stop` ends it,
  // a stop is requested, or there are `tokens` new tokens. A text may be longer than the model's
  // context. All are computed as one batch; up to rounding each is what it would be alone. The
  // draws of prompt i are those of number `first` + i, whatever the batch. Calls `on_text` with
  // pieces of the first text as they are generated, and at the end with what may have been the
  // beginning of a string of `stop`. Throws BadInput if a prompt is empty and the
  // tokenizer has no token that begins or ends a text.
  std::vector<std::string> Continue(const std::vector<std::string>& prompts, int64_t first = 0,
                                    const std::function<void(const std::string&)>& on_text = {});

  const std::string& warning() const;  // if `length` goes beyond the training; else empty

 private:
  struct Opened;
  GenerateOptions options_;
  std::unique_ptr<Opened> opened_;
};

// Generator::Continue of options.prompt. Calls `on_text` for each piece as it is generated, first
// for the prompt, and `on_warning` once if `length` goes beyond the training.
std::string Generate(const GenerateOptions& options,
                     const std::function<void(const std::string& piece)>& on_text = {},
                     const std::function<void(const std::string& line)>& on_warning = {});

}  // namespace torus::recipes
