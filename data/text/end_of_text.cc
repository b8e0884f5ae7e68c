#include "data/text/end_of_text.h"

#include <algorithm>

namespace torus::data {

std::string EndOfTextName(const Tokenizer& tokenizer) {
  return tokenizer.name() == "roberta" ? "</s>" : "<|endoftext|>";
}

int32_t EndOfText(const Tokenizer& tokenizer) {
  const std::vector<SpecialToken>& specials = tokenizer.specials();
  const auto found = std::ranges::find(specials, EndOfTextName(tokenizer), &SpecialToken::text);
  return found == specials.end() ? -1 : found->number;
}

}  // namespace torus::data
