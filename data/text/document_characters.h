// The tokenizer of the characters that documents have.
#pragma once

#include <string>

#include "data/text/char_tokenizer.h"
#include "data/text/documents.h"

namespace torus::data {

// Its alphabet is that of all documents. Throws BadInput naming `path` for what is not UTF-8.
CharTokenizer CharactersOf(const Documents& documents, const std::string& path);

}  // namespace torus::data
