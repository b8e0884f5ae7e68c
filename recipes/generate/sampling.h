// Drawing the next token from a language model's logits.
#pragma once

#include <cstdint>
#include <span>

namespace torus::recipes {

struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the likeliest token
  int64_t top_k = 0;  // only the k likeliest tokens count (Fan et al. 2018, section 5.1); 0: all
  // Only the likeliest tokens whose probabilities just reach p count (Holtzman et al. 2020, section
  // 3.1).
  double top_p = 1;
};

// BadInput for a negative temperature or top_k, and for a top_p outside of (0, 1].
void Check(const SamplingOptions& options);

// A token by inverse transform: `uniform` in [0, 1) picks along the tokens from the likeliest down,
// equal ones in ascending order, first cut by top_k, then by top_p of what is left. BadInput for no
// logits, or one that is not finite.
int64_t SampleToken(std::span<const float> logits, const SamplingOptions& options, double uniform);

}  // namespace torus::recipes
