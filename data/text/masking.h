// Masking tokens for masked language models: Devlin et al. 2019, "BERT: pre-training of deep
// bidirectional transformers for language understanding", section 3.1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/loading/batch.h"
#include "data/text/tokenizer.h"
#include "runtime/rng.h"

namespace torus::data {

// Immutable after it is made: any number of threads may use it.
class TokenMasker {
 public:
  static constexpr int64_t kAround = 2;       // tokens of a row beside its text: <s> and </s>
  static constexpr int64_t kNoTarget = -100;  // what cross entropy ignores

  // BadInput unless the tokenizer is a byte-level BPE with <s>, </s> and <mask>.
  explicit TokenMasker(const Tokenizer& tokenizer);

  // Targets in a text of so many tokens: 15 %, rounded, and at least one. All rows of a length have
  // as many, so a mean over rows is one over targets.
  static int64_t TargetsOf(int64_t length) {
    return std::max<int64_t>(1, (15 * length + 50) / 100);
  }

  // Writes the row <s> text </s>, and beside it what to guess (both of text.size() + kAround): at
  // TargetsOf places, any of the text alike, the text's own token, elsewhere kNoTarget. Of these
  // places each shows, by itself, <mask> with probability 0.8, a random token with 0.1, and what
  // stood there with 0.1. A special token is neither drawn nor, where a text holds one, a target.
  // All is drawn from the stream of `key`.
  void Mask(std::span<const int64_t> text, const RandomKey& key, int64_t* row,
            int64_t* target) const;

 private:
  int64_t Shown(int64_t token, const RandomStream& random, uint64_t index) const;
  bool IsSpecial(int64_t token) const;

  int64_t begin_, end_, mask_, vocabulary_;
  std::vector<int64_t> specials_;  // ascending
};

// Whether a row gets new masks in each epoch.
struct MaskDraws {
  uint64_t seed = 0;
  // Others in each epoch (Liu et al. 2019, "RoBERTa", section 4.1); else always the same.
  bool each_epoch = false;
};

// The batches of `windows`, whose input 0 is tokens (n, T), masked: input i64 (n, T + kAround) and
// target of that shape, from the stream of (seed, epoch, index of the example). So masks depend
// neither on replicas and micro-batches nor on where a run was resumed.
MakeBatch MaskedBatches(MakeBatch windows, TokenMasker masker, const MaskDraws& draws);

}  // namespace torus::data
