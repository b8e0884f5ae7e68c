// Windows of a long text, for language models. The input is `length` consecutive tokens; the target
// is the same window shifted by one token, so each token predicts the next.
#pragma once

#include <cstdint>

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"
#include "data/loading/batch_memory.h"
#include "data/text/tokens.h"

namespace torus::data {

// Adjacent windows, for validation: window i begins at token i x length. Together they predict
// every token of the text once, except the first one and up to length - 1 at the end. An example
// has the input {tokens i64 (length)} and the target i64 (length).
class DisjointWindows : public Dataset {
 public:
  // Throws BadInput naming the tokens unless they contain at least one window and the token after
  // it. `tokens` must outlive it.
  DisjointWindows(const Tokens& tokens, int64_t length);

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return (tokens_.size() - 1) / length_; }
  Sample Get(int64_t index) const override;

 private:
  const Tokens& tokens_;
  int64_t length_;
  DatasetInfo info_;
};

struct RandomWindowOptions {
  int64_t length = 0;
  uint64_t seed = 0;
  BatchMemory memory = BatchMemory::kOrdinary;
};

// Windows at random places, for training. Example `index` of epoch `epoch` begins at a token drawn
// uniformly from the random stream of (seed, epoch, index). With a sampler that does not shuffle,
// index = number of the mini-batch in the epoch x batch size + row. So windows do not depend on
// replicas, micro-batches or where a run was resumed. An epoch may have any number of examples.
//
// Batches have the input {tokens i64 (n, length)} and the target i64 (n, length). Throws BadInput
// as above.
MakeBatch RandomWindows(const Tokens& tokens, const RandomWindowOptions& options);

// The position of the first token of such a window.
int64_t RandomWindowBegin(const Tokens& tokens, const RandomWindowOptions& options, int64_t epoch,
                          int64_t index);

}  // namespace torus::data
