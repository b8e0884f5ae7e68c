// Which tokenizer cuts the texts of a model that is named by --model.
#pragma once

#include <string>

#include "data/text/tokenizer.h"
#include "models/descriptor.h"

namespace torus::recipes {

// The name `given` (--tokenizer), or where it is empty the model's own; but of a GPT for long texts
// without a `vocab_dir` bytes, which need none. BadInput naming the flag where the model cannot
// read such tokens, and where they need a --vocab-dir.
std::string TokenizerFor(const ModelDescriptor& model, const std::string& given,
                         const std::string& vocab_dir);

// BadInput naming both and --tokenizer for a tokenizer whose numbers the model does not know:
// another than its own where it requires that, and one of more tokens than a classifier's embedding
// has rows. (A language model's is made for its tokenizer.)
void CheckTokenizer(const ModelDescriptor& model, const data::Tokenizer& tokenizer);

}  // namespace torus::recipes
