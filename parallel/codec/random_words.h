// RandomWords: the random numbers of a codec, a pure function of the context and the value's index.
#pragma once

#include "parallel/codec/codec_context.h"
#include "runtime/rng.h"

namespace torus::parallel {

class RandomWords {
 public:
  // Different purposes give unrelated numbers.
  RandomWords(const CodecContext& context, const char* purpose)
      : stream_({.seed = context.seed,
                 .step = static_cast<uint64_t>(context.step),
                 .layer = HashName(purpose) + context.stream,
                 .sample = static_cast<uint64_t>(context.micro_batch)}) {}

  // Sets words[i] to word first + i. `first` is a multiple of four.
  void Fill(int64_t first, int64_t count, uint32_t* words) const {
    stream_.Blocks(static_cast<uint64_t>(first / 4), count / 4, words);
    for (int64_t i = count / 4 * 4; i < count; ++i)
      words[i] = stream_.Word(static_cast<uint64_t>(first + i));
  }

 private:
  RandomStream stream_;
};

}  // namespace torus::parallel
