#include <algorithm>
#include <vector>

#include "ops/attention/cpu/tiles.h"
#include "ops/cpu/gemm.h"
#include "runtime/team_size_guard.h"

namespace torus::cpu {
namespace {

using Call = AttentionCall<float>;

constexpr int64_t kRows = 128, kKeys = 128;  // two tiles of 64 KB

void FillZero(const HeadMatrices<float>& m, int64_t head, int64_t rows, int64_t width) {
  for (int64_t r = 0; m.defined() && r < rows; ++r) std::fill_n(m.at(head, r), width, 0.0f);
}

// One key head with the query heads that use it.
class KeyHead {
 public:
  KeyHead(const Call& call, const AttentionResult<float>& result,
          const AttentionGradient<float>& gradients)
      : call_(call),
        result_(result),
        d_(gradients),
        stride_(std::min(kKeys, call.keys)),
        weights_(Scratch(std::min(kRows, call.rows) * stride_)),
        scores_(Scratch(std::min(kRows, call.rows) * stride_)),
        factor_(Scratch(stride_)),
        mean_(static_cast<size_t>(call.rows)) {}

  void Run(int64_t key_head) {
    FillZero(d_.key, key_head, call_.keys, call_.width);
    FillZero(d_.value, key_head, call_.keys, call_.value_width);
    for (int64_t head = key_head * call_.group; head < (key_head + 1) * call_.group; ++head)
      QueryHead(head);
  }

 private:
  // Whether the gradients of the scores are needed: for query or key.
  bool WantsScores() const { return d_.query.defined() || d_.key.defined(); }

  void QueryHead(int64_t head) {
    if (call_.keys == 0) return FillZero(d_.query, head, call_.rows, call_.width);
    if (WantsScores())
      RowDots(call_.rows, call_.value_width, result_.dout.at(head), result_.dout.stride,
              result_.out.at(head), result_.out.stride, mean_.data());
    for (int64_t row = 0; row < call_.rows; row += kRows) {
      const int64_t rows = std::min(kRows, call_.rows - row);
      const int64_t seen = KeysSeen(call_, row + rows - 1);
      for (int64_t key = 0; key < seen; key += kKeys)
        Tile({head, row, rows, key, std::min(kKeys, seen - key)});
    }
  }

  void Tile(const TilePlace& p) {
    const ScoreTile tile = ComputeScores(call_, p, weights_.get(), stride_);
    const int64_t at = p.head * call_.rows + p.row;
    Weights(tile, result_.norms.largest + at, result_.norms.log_sum + at);
    if (WantsScores()) AddQueryAndKey(p, tile);
    if (d_.value.defined()) AddValue(p);
  }

  void AddQueryAndKey(const TilePlace& p, const ScoreTile& weights) {
    const int64_t key_head = p.head / call_.group;
    Gemm(Transpose::kNo, Transpose::kYes, p.rows, p.keys, call_.value_width, 1.0f,
         result_.dout.at(p.head, p.row), result_.dout.stride, call_.v.at(key_head, p.key),
         call_.v.stride, 0.0f, scores_.get(), stride_);
    ApplyDropout(call_, p, scores_.get(), stride_, factor_.get());
    ScoreGradients(weights, mean_.data() + p.row, scores_.get());
    if (d_.query.defined())
      Gemm(Transpose::kNo, Transpose::kNo, p.rows, call_.width, p.keys, call_.scale, scores_.get(),
           stride_, call_.k.at(key_head, p.key), call_.k.stride, p.key > 0 ? 1.0f : 0.0f,
           d_.query.at(p.head, p.row), d_.query.stride);
    if (d_.key.defined())
      Gemm(Transpose::kYes, Transpose::kNo, p.keys, call_.width, p.rows, call_.scale, scores_.get(),
           stride_, call_.q.at(p.head, p.row), call_.q.stride, 1.0f, d_.key.at(key_head, p.key),
           d_.key.stride);
  }

  // Changes the weights.
  void AddValue(const TilePlace& p) {
    ApplyDropout(call_, p, weights_.get(), stride_, factor_.get());
    Gemm(Transpose::kYes, Transpose::kNo, p.keys, call_.value_width, p.rows, 1.0f, weights_.get(),
         stride_, result_.dout.at(p.head, p.row), result_.dout.stride, 1.0f,
         d_.value.at(p.head / call_.group, p.key), d_.value.stride);
  }

  const Call& call_;
  const AttentionResult<float>& result_;
  const AttentionGradient<float>& d_;
  int64_t stride_;
  std::unique_ptr<float[]> weights_, scores_, factor_;
  std::vector<float> mean_;  // sum_j weight_j d weight_j of each row: dout . out
};

}  // namespace

void AttentionBackward(const Call& call, const AttentionResult<float>& result,
                       const AttentionGradient<float>& d) {
  ParallelFor(call.key_heads, 1, [&](int64_t begin, int64_t end) {
    const TeamSizeGuard alone(1);  // GEMM's bits may depend on the team
    KeyHead head(call, result, d);
    for (int64_t at = begin; at < end; ++at) head.Run(at);
  });
}

}  // namespace torus::cpu
