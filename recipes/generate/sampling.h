// Samples the next token from a language model's logits.
#pragma once

#include <cstdint>
#include <set>
#include <span>

namespace torus::recipes {

// How the next token is drawn from the logits.
struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the likeliest token
  int64_t top_k = 0;  // keeps only the k likeliest tokens (Fan et al. 2018, section 5.1); 0: all
  // Keeps the smallest set of likeliest tokens whose probabilities sum to p or more (Holtzman et
  // al. 2020, section 3.1).
  double top_p = 1;
  double repetition_penalty = 1;  // Penalize; 1: none
};

// Throws BadInput if temperature or top_k is negative, top_p is outside (0, 1], or
// repetition_penalty is not above 0.
void Check(const SamplingOptions& options);

// Makes tokens that a text has already less likely (Keskar et al. 2019, "CTRL", section 4.1):
// divides their logits by `penalty`, and multiplies those below 0, as transformers'
// RepetitionPenaltyLogitsProcessor does. `seen`: tokens of `logits`.
void Penalize(const std::set<int32_t>& seen, double penalty, std::span<float> logits);

// Samples by inverse transform: `uniform`, in [0, 1), selects along the cumulative probabilities of
// the tokens, the likeliest first, equally likely ones in ascending order. top_k is applied first,
// then top_p to what is left. Throws BadInput if there are no logits or one is not finite.
int64_t SampleToken(std::span<const float> logits, const SamplingOptions& options, double uniform);

}  // namespace torus::recipes
