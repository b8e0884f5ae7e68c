// Where data lie below the common folder that the environment's TORUS_DATA names.
#pragma once

#include <string>

#include "recipes/settings/settings.h"

namespace torus::recipes {

// "glue/RTE" of --data rte; empty for data that have no place there.
std::string PlaceOf(const std::string& data);

// The folder of GPT-2's and RoBERTa's vocabulary there.
inline constexpr char kVocabularyPlace[] = "bpe_gpt2_roberta";

// Whether GPT-2's or RoBERTa's vocabulary is needed for such data, by the tokenizer of that name;
// empty: none is named.
bool NeedsPublishedVocabulary(const std::string& tokenizer, const std::string& data);

// $TORUS_DATA/PLACE if that is there; else empty.
std::string InCommonFolder(const std::string& place);

// Sets a data_dir that is empty, and a vocab_dir that is empty but needed, to what the common
// folder has.
void UseCommonFolder(Settings& settings);

}  // namespace torus::recipes
