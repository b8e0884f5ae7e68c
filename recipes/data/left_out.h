// What a reader left out, as the programs say it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"

namespace torus::recipes {

// "2 examples left out: a/1.png: requires ...; b/train.tsv line 7: requires 4 columns, got 3"; the
// first five, then how many more there are. `more`: others were told before ("2 more examples").
std::string LeftOutLine(const std::vector<data::LeftOut>& left_out, bool more = false);

// "3 of 277 examples truncated to 128 tokens"; empty where none was.
std::string TruncatedLine(int64_t truncated, int64_t examples, int64_t length);

}  // namespace torus::recipes
