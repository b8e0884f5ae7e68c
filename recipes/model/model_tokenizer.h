// Which tokenizer cuts the texts of a model that is named by --model.
#pragma once

#include <string>

#include "data/text/tokenizer.h"
#include "recipes/model/model_spec.h"

namespace torus::recipes {

// The name `given` (--tokenizer), or where it is empty the model's own; but of a GPT for long texts
// without a `vocab_dir` bytes, which need none. BadInput naming the flag where the model cannot
// read such tokens, and where they need a --vocab-dir.
std::string TokenizerFor(const ModelSpec& model, const std::string& given,
                         const std::string& vocab_dir);

// BadInput naming both and --tokenizer for a tokenizer whose numbers the model does not know:
// another than RoBERTa's for a RoBERTa, whose positions and padding go by <pad>; and more tokens
// than a classifier's embedding has rows. (A language model's is made for its tokenizer.)
void CheckTokenizer(const ModelSpec& model, const data::Tokenizer& tokenizer);

}  // namespace torus::recipes
