#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention/cpu/tiles.h"
#include "ops/cpu/gemm.h"
#include "runtime/team_size_guard.h"

namespace torus::cpu {
namespace {

using Call = AttentionCall<float>;

// A tile of scores (128 KB), its keys, values and rows fit into the second-level cache.
constexpr int64_t kRows = 128, kKeys = 256;

// One block of rows of one head, and the state of its running softmax.
class RowBlock {
 public:
  explicit RowBlock(const Call& call)
      : call_(call),
        stride_(std::min(kKeys, call.keys)),
        scores_(Scratch(std::min(kRows, call.rows) * stride_)),
        factor_(Scratch(stride_)) {}

  void Run(int64_t head, int64_t row, const HeadMatrices<float>& out,
           const RowNorms<float>& norms) {
    const int64_t rows = std::min(kRows, call_.rows - row);
    std::fill_n(largest_, rows, -std::numeric_limits<float>::infinity());
    std::fill_n(sum_, rows, 0.0f);
    float* to = out.at(head, row);
    const int64_t seen = KeysSeen(call_, row + rows - 1);
    for (int64_t key = 0; key < seen; key += kKeys)
      Take({head, row, rows, key, std::min(kKeys, seen - key)}, to, out.stride);
    const int64_t at = head * call_.rows + row;
    Finish(rows, to, out.stride, {norms.largest + at, norms.log_sum + at});
  }

 private:
  void Take(const TilePlace& place, float* out, int64_t out_stride) {
    const ScoreTile tile = ComputeScores(call_, place, scores_.get(), stride_);
    SoftmaxStep(tile, largest_, sum_, shrink_);
    ApplyDropout(call_, place, scores_.get(), stride_, factor_.get());
    if (place.key > 0) Scale(place.rows, shrink_, out, out_stride);
    Gemm(Transpose::kNo, Transpose::kNo, place.rows, call_.value_width, place.keys, 1.0f,
         scores_.get(), stride_, call_.v.at(place.head / call_.group, place.key), call_.v.stride,
         place.key > 0 ? 1.0f : 0.0f, out, out_stride);
  }

  void Scale(int64_t rows, const float* factor, float* out, int64_t stride) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < call_.value_width; ++c) out[r * stride + c] *= factor[r];
  }

  void Finish(int64_t rows, float* out, int64_t stride, const RowNorms<float>& norms) {
    for (int64_t r = 0; r < rows; ++r) {
      // A row that attends to nothing, or only to scores of -inf, gives zeros.
      const bool none = sum_[r] == 0;
      shrink_[r] = none ? 0 : 1 / sum_[r];
      norms.largest[r] = none ? 0 : largest_[r];
      norms.log_sum[r] = none ? 0 : std::log(sum_[r]);
      if (call_.keys == 0) std::fill_n(out + r * stride, call_.value_width, 0.0f);
    }
    Scale(rows, shrink_, out, stride);
  }

  const Call& call_;
  int64_t stride_;
  std::unique_ptr<float[]> scores_, factor_;
  float largest_[kRows], sum_[kRows], shrink_[kRows];
};

}  // namespace

void Attention(const Call& call, const HeadMatrices<float>& out, const RowNorms<float>& norms) {
  const int64_t blocks = (call.rows + kRows - 1) / kRows;
  ParallelFor(call.heads * blocks, 1, [&](int64_t begin, int64_t end) {
    const TeamSizeGuard alone(1);  // GEMM's bits may depend on the team
    RowBlock block(call);
    for (int64_t at = begin; at < end; ++at)
      block.Run(at / blocks, at % blocks * kRows, out, norms);
  });
}

}  // namespace torus::cpu
