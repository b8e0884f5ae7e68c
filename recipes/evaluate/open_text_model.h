// Opens a trained text model together with its tokenizer.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/text/tokenizer.h"
#include "models/checkpoint/load_weights.h"
#include "models/descriptor.h"

namespace torus::recipes {

struct TextModelFlags {
  std::string model;      // for a file of weights; a Hugging Face folder names it in config.json
  std::string init;       // file or folder of weights
  std::string init_part;  // as EvaluateOptions::init_part
  // gpt2, roberta, json or bytes, for a file, where empty means TokenizerFor the model; and for a
  // folder, where empty means that of the files in vocab_dir, if it has none or vocab_dir is given.
  std::string tokenizer;
  std::string vocab_dir;  // empty: the folder's own
  int64_t classes = 0;    // for a file that holds a classifier
  // As Settings::models.
  const std::vector<ModelDescriptor>* models = nullptr;
};

struct TextModel {
  std::shared_ptr<nn::Sequential> model;  // a language model leaves its head to its loss
  std::unique_ptr<data::Tokenizer> tokenizer;
  ModelTask task = ModelTask::kSentences;
  int64_t longest = 0;    // most tokens of a row
  int64_t trained = 0;    // tokens of a row in its training; 0: unknown (trained_length.h)
  nlohmann::json config;  // of a Hugging Face folder; null for a file of weights
  // The tokens of a row, where --length says `given`; 0: as in its training, else `longest`.
  int64_t RowLength(int64_t given) const;
  TakenWeights taken = {};
};

// Throws BadInput if a flag is missing (it names the flag), if the model takes images, or if the
// tokenizer has more tokens than the model; also the errors of the readers.
TextModel OpenTextModel(const TextModelFlags& flags);

}  // namespace torus::recipes
