#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention/cpu/tile_operand.h"
#include "ops/attention/cpu/tiles.h"
#include "runtime/team_size_guard.h"

namespace torus::cpu {
namespace {

// A tile of scores (128 KB), its keys, values and rows fit into the second-level cache.
constexpr int64_t kRows = 128, kKeys = 256;

// One block of rows of one head, and the state of its running softmax.
template <class T>
class RowBlock {
 public:
  explicit RowBlock(const AttentionCall<T>& call)
      : call_(call),
        stride_(std::min(kKeys, call.keys)),
        scores_(Scratch(std::min(kRows, call.rows) * stride_)),
        factor_(Scratch(stride_)),
        weights_(std::min(kRows, call.rows) * stride_),
        sums_(std::min(kRows, call.rows), call.value_width) {}

  void Run(int64_t head, int64_t row, const HeadMatrices<T>& out, const RowNorms<float>& norms) {
    const int64_t rows = std::min(kRows, call_.rows - row);
    std::fill_n(largest_, rows, -std::numeric_limits<float>::infinity());
    std::fill_n(sum_, rows, 0.0f);
    sums_.Begin(out.at(head, row), out.stride);
    const int64_t seen = KeysSeen(call_, row + rows - 1);
    for (int64_t key = 0; key < seen; key += kKeys)
      Take({head, row, rows, key, std::min(kKeys, seen - key)});
    const int64_t at = head * call_.rows + row;
    Finish(rows, {norms.largest + at, norms.log_sum + at});
  }

 private:
  void Take(const TilePlace& place) {
    const ScoreTile tile = ComputeScores(call_, place, scores_.get(), stride_);
    SoftmaxStep(tile, largest_, sum_, shrink_);
    ApplyDropout(call_, place, scores_.get(), stride_, factor_.get());
    if (place.key > 0) Scale(place.rows, shrink_);
    weights_.Take(scores_.get(), stride_, place.rows, place.keys, 1.0f);
    weights_.Times(Transpose::kNo, place.rows, call_.value_width, place.keys,
                   call_.v.at(place.head / call_.group, place.key), call_.v.stride, place.key > 0,
                   sums_.at(0), sums_.stride());
  }

  void Scale(int64_t rows, const float* factor) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < call_.value_width; ++c) sums_.at(r)[c] *= factor[r];
  }

  void Finish(int64_t rows, const RowNorms<float>& norms) {
    for (int64_t r = 0; r < rows; ++r) {
      // A row that attends to nothing, or only to scores of -inf, gives zeros.
      const bool none = sum_[r] == 0;
      shrink_[r] = none ? 0 : 1 / sum_[r];
      norms.largest[r] = none ? 0 : largest_[r];
      norms.log_sum[r] = none ? 0 : std::log(sum_[r]);
    }
    if (call_.keys == 0) sums_.Clear(rows);
    Scale(rows, shrink_);
    sums_.Finish(rows);
  }

  const AttentionCall<T>& call_;
  int64_t stride_;
  std::unique_ptr<float[]> scores_, factor_;
  TileOperand<T> weights_;
  RowSums<T> sums_;
  float largest_[kRows], sum_[kRows], shrink_[kRows];
};

template <class T>
void Forward(const AttentionCall<T>& call, const HeadMatrices<T>& out,
             const RowNorms<float>& norms) {
  const int64_t blocks = (call.rows + kRows - 1) / kRows;
  ParallelFor(call.heads * blocks, 1, [&](int64_t begin, int64_t end) {
    const TeamSizeGuard alone(1);  // GEMM's bits may depend on the team
    RowBlock<T> block(call);
    for (int64_t at = begin; at < end; ++at)
      block.Run(at / blocks, at % blocks * kRows, out, norms);
  });
}

}  // namespace

void Attention(const AttentionCall<float>& call, const HeadMatrices<float>& out,
               const RowNorms<float>& norms) {
  Forward(call, out, norms);
}

void Attention(const AttentionCall<BFloat16>& call, const HeadMatrices<BFloat16>& out,
               const RowNorms<float>& norms) {
  Forward(call, out, norms);
}

}  // namespace torus::cpu
