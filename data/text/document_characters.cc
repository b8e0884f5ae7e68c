#include "data/text/document_characters.h"

#include "data/text/char_tokenizer.h"

namespace torus::data {

std::string CharactersOf(const Documents& documents, const std::string& path) {
  std::string alphabets;
  for (const std::string_view document : documents.all())
    alphabets += CharTokenizer::Of(document, path).alphabet();
  return alphabets.empty() ? "" : CharTokenizer::Of(alphabets, path).alphabet();
}

}  // namespace torus::data
