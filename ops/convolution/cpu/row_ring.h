// A cache of the last few rows of an image, padded left and right and filled on first use.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels.h"
#include "runtime/tensor.h"

namespace torus::cpu {

// Rows of `width` pixels of `channels` floats between `left` and `right` zero pixels. fill(n, row,
// dst) writes the width * channels floats of a row. It may compute them (a batch norm, say), so
// that the whole image never exists in that form. Any `slots` neighbouring rows can be cached at
// once.
template <class Fill>
class RowRing {
 public:
  RowRing(int64_t slots, int64_t width, int64_t channels, int64_t left, int64_t right,
          const Fill& fill)
      : fill_(fill),
        slots_(slots),
        offset_(left * channels),
        stride_((left + width + right) * channels),
        rows_(Zeros({slots * stride_})),
        data_(rows_.mutable_data<float>()),
        held_(slots, {-1, -1}) {}

  // First padding pixel of row `row` of image `n`; the row must lie in the image. Valid until
  // `slots` other rows have been requested.
  const float* Row(int64_t n, int64_t row) {
    const int64_t slot = row % slots_;
    float* const start = data_ + slot * stride_;
    if (held_[slot] != Key{n, row}) {
      fill_(n, row, start + offset_);
      held_[slot] = {n, row};
    }
    return start;
  }

 private:
  struct Key {
    int64_t n, row;
    bool operator==(const Key&) const = default;
  };
  const Fill& fill_;
  int64_t slots_, offset_, stride_;
  Tensor rows_;
  float* data_;
  std::vector<Key> held_;
};

}  // namespace torus::cpu
