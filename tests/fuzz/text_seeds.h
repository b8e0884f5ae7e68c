// A small byte-level BPE.
#pragma once

#include <string>

namespace torus::fuzz {

inline constexpr char kMerges[] =
    "#version: 0.2\nt h\nth e\n\xc4\xa0 the\ni n\nin g\n\xc3\x83 \xc2\xa9\n";

// Its vocabulary, as a vocab.json: every byte and what the merges make.
std::string VocabularyJson();

}  // namespace torus::fuzz
