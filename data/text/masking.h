// Masks tokens for masked language models: Devlin et al. 2019, "BERT: pre-training of deep
// bidirectional transformers for language understanding", section 3.1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/loading/batch.h"
#include "data/loading/batch_memory.h"
#include "data/text/tokenizer.h"
#include "runtime/rng.h"

namespace torus::data {

// Immutable after construction: any number of threads may use it.
class TokenMasker {
 public:
  static constexpr int64_t kAround = 2;       // tokens that a row adds to its text: <s> and </s>
  static constexpr int64_t kNoTarget = -100;  // the target that cross entropy ignores

  // Throws BadInput unless the tokenizer is a byte-level BPE with <s>, </s> and <mask>.
  explicit TokenMasker(const Tokenizer& tokenizer);

  // The number of targets in a text of `length` tokens: 15 %, rounded, at least one. All rows of
  // equal length have equally many, so a mean over rows equals the mean over targets.
  static int64_t TargetsOf(int64_t length) {
    return std::max<int64_t>(1, (15 * length + 50) / 100);
  }

  // Writes to `row` <s> text </s> with masks, and to `target` what to predict; both have
  // text.size() + kAround tokens. TargetsOf places, chosen uniformly in the text, have the text's
  // token as target; all others have kNoTarget. At each of these places, independently, the row has
  // <mask> with probability 0.8, a random token with 0.1, and the original token with 0.1. Special
  // tokens are never drawn, nor are they targets if the text contains any. All draws come from the
  // stream of `key`.
  void Mask(std::span<const int64_t> text, const RandomKey& key, int64_t* row,
            int64_t* target) const;

 private:
  int64_t Shown(int64_t token, const RandomStream& random, uint64_t index) const;
  bool IsSpecial(int64_t token) const;

  int64_t begin_, end_, mask_, vocabulary_;
  std::vector<int64_t> specials_;  // ascending
};

// Whether a row's masks change from epoch to epoch.
struct MaskDraws {
  uint64_t seed = 0;  // of the draws
  // New masks in each epoch (Liu et al. 2019, "RoBERTa", section 4.1); otherwise always the same.
  bool each_epoch = false;
};

// Masks the batches of `windows`, whose input 0 is tokens (n, T): the results have an input i64 (n,
// T + kAround) and a target of that shape. Masks come from the stream of (seed, epoch, index of the
// example), so they do not depend on replicas, micro-batches or where a run was resumed.
MakeBatch MaskedBatches(MakeBatch windows, TokenMasker masker, const MaskDraws& draws,
                        BatchMemory memory = BatchMemory::kOrdinary);

}  // namespace torus::data
