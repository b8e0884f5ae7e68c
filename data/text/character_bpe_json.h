// A BPE over characters in a single file: tokenizer.json, as written by Hugging Face's tokenizers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/text/character_bpe.h"

namespace torus::data {

// Whether a tokenizer.json is of such a BPE, with merges, and not of one over bytes.
bool IsCharacterBpe(const nlohmann::json& tokenizer);

// Reads the model, how texts are changed before it, and how tokens become texts. Of the parts,
// name, specials, beginning and end are left. Throws BadInput naming `path` for any other form, and
// for a tokenizer that changes or cuts texts in another way than SpaceRule says.
CharacterBpe::Parts ParseCharacterBpe(const nlohmann::json& tokenizer, const std::string& path);

}  // namespace torus::data
