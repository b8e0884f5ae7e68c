// Chooses the tokenizer of a run's model.
#pragma once

#include <string>

#include "data/text/tokenizer.h"
#include "models/descriptor.h"

namespace torus::recipes {

// Returns the name `given` (--tokenizer) or, if it is empty, the model's own tokenizer. But a GPT
// for long texts without a `vocab_dir` gets "bytes", which needs none. Throws BadInput, naming the
// flag, if the model cannot read such tokens, or if the tokenizer needs a --vocab-dir.
std::string TokenizerFor(const ModelDescriptor& model, const std::string& given,
                         const std::string& vocab_dir);

// Throws BadInput, naming model, tokenizer and --tokenizer, if the model requires its own tokenizer
// and this is another, or if a classifier's embedding has fewer rows than the tokenizer has tokens.
// (The embedding of a language model is made for its tokenizer.)
void CheckTokenizer(const ModelDescriptor& model, const data::Tokenizer& tokenizer);

}  // namespace torus::recipes
