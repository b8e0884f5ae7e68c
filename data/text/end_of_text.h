// The token that ends a text, as GPT-2 and RoBERTa were trained.
#pragma once

#include <cstdint>
#include <string>

#include "data/text/tokenizer.h"

namespace torus::data {

// As it is written: "<|endoftext|>", or of RoBERTa's tokenizer "</s>".
std::string EndOfTextName(const Tokenizer& tokenizer);

// Its number; -1 for a tokenizer that has no such special token.
int32_t EndOfText(const Tokenizer& tokenizer);

}  // namespace torus::data
