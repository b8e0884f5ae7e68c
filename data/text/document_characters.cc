#include "data/text/document_characters.h"

namespace torus::data {

CharTokenizer CharactersOf(const Documents& documents, const std::string& path) {
  std::string alphabets;
  for (const std::string_view document : documents.all())
    alphabets += CharTokenizer::Of(document, path).alphabet();
  return CharTokenizer::Of(alphabets, path);
}

}  // namespace torus::data
