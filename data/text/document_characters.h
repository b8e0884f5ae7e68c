// The characters that documents have.
#pragma once

#include <string>

#include "data/text/documents.h"

namespace torus::data {

// Those of all documents in ascending order, each once; empty if there is no document. Throws
// BadInput naming `path` for what is not UTF-8.
std::string CharactersOf(const Documents& documents, const std::string& path);

}  // namespace torus::data
