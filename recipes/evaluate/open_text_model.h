// A trained model of texts with the tokenizer that its texts are cut by.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/text/tokenizer.h"
#include "models/descriptor.h"

namespace torus::recipes {

struct TextModelFlags {
  std::string model;      // of a file of weights; a Hugging Face folder says it in config.json
  std::string init;       // file or folder of weights
  std::string tokenizer;  // of a file: gpt2, roberta or bytes; empty: TokenizerFor the model
  std::string vocab_dir;  // empty: the folder's own
  int64_t classes = 0;    // of a classifier in a file
  // As Settings::models.
  const std::vector<ModelDescriptor>* models = nullptr;
};

struct TextModel {
  std::shared_ptr<nn::Sequential> model;  // a language model leaves its head to its loss
  std::unique_ptr<data::Tokenizer> tokenizer;
  ModelTask task = ModelTask::kSentences;
  int64_t longest = 0;  // tokens of a row
};

// BadInput naming the flag that is missing, for a model of images, and for a tokenizer of more
// tokens than the model knows; also the errors of the readers.
TextModel OpenTextModel(const TextModelFlags& flags);

}  // namespace torus::recipes
