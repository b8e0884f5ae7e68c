#include <algorithm>
#include <vector>

#include "ops/attention/tiles.h"
#include "ops/cpu/gemm.h"

namespace torus::cpu {
namespace {

using Call = AttentionCall<float>;

constexpr int64_t kRows = 128, kKeys = 128;  // two tiles of 64 KB

struct InputGradients {
  HeadMatrices<float> q, k, v;
};

// One key head with the query heads that meet it.
class KeyHead {
 public:
  KeyHead(const Call& call, const AttentionResult<float>& result, const InputGradients& gradients)
      : call_(call),
        result_(result),
        d_(gradients),
        stride_(std::min(kKeys, call.keys)),
        weights_(Scratch(std::min(kRows, call.rows) * stride_)),
        scores_(Scratch(std::min(kRows, call.rows) * stride_)),
        factor_(Scratch(stride_)),
        mean_(static_cast<size_t>(call.rows)) {}

  void Run(int64_t key_head) {
    for (int64_t j = 0; j < call_.keys; ++j) {
      std::fill_n(d_.k.at(key_head, j), call_.width, 0.0f);
      std::fill_n(d_.v.at(key_head, j), call_.value_width, 0.0f);
    }
    for (int64_t head = key_head * call_.group; head < (key_head + 1) * call_.group; ++head)
      QueryHead(head);
  }

 private:
  void QueryHead(int64_t head) {
    RowDots(call_.rows, call_.value_width, result_.dout.at(head), result_.dout.stride,
            result_.out.at(head), result_.out.stride, mean_.data());
    for (int64_t row = 0; row < call_.rows; row += kRows) {
      const int64_t rows = std::min(kRows, call_.rows - row);
      const int64_t seen = KeysSeen(call_, row + rows - 1);
      for (int64_t key = 0; key < seen; key += kKeys)
        Tile({head, row, rows, key, std::min(kKeys, seen - key)});
      for (int64_t r = row; call_.keys == 0 && r < row + rows; ++r)
        std::fill_n(d_.q.at(head, r), call_.width, 0.0f);
    }
  }

  void Tile(const TilePlace& p) {
    const int64_t key_head = p.head / call_.group;
    const float* dout = result_.dout.at(p.head, p.row);
    const ScoreTile tile = ComputeScores(call_, p, weights_.get(), stride_);
    const int64_t at = p.head * call_.rows + p.row;
    Weights(tile, result_.norms.largest + at, result_.norms.log_sum + at);
    Gemm(Transpose::kNo, Transpose::kYes, p.rows, p.keys, call_.value_width, 1.0f, dout,
         result_.dout.stride, call_.v.at(key_head, p.key), call_.v.stride, 0.0f, scores_.get(),
         stride_);
    ApplyDropout(call_, p, scores_.get(), stride_, factor_.get());
    ScoreGradients(tile, mean_.data() + p.row, scores_.get());
    AddQueryAndKey(p, key_head);
    ApplyDropout(call_, p, weights_.get(), stride_, factor_.get());
    Gemm(Transpose::kYes, Transpose::kNo, p.keys, call_.value_width, p.rows, 1.0f, weights_.get(),
         stride_, dout, result_.dout.stride, 1.0f, d_.v.at(key_head, p.key), d_.v.stride);
  }

  void AddQueryAndKey(const TilePlace& p, int64_t key_head) {
    Gemm(Transpose::kNo, Transpose::kNo, p.rows, call_.width, p.keys, call_.scale, scores_.get(),
         stride_, call_.k.at(key_head, p.key), call_.k.stride, p.key > 0 ? 1.0f : 0.0f,
         d_.q.at(p.head, p.row), d_.q.stride);
    Gemm(Transpose::kYes, Transpose::kNo, p.keys, call_.width, p.rows, call_.scale, scores_.get(),
         stride_, call_.q.at(p.head, p.row), call_.q.stride, 1.0f, d_.k.at(key_head, p.key),
         d_.k.stride);
  }

  const Call& call_;
  const AttentionResult<float>& result_;
  const InputGradients& d_;
  int64_t stride_;
  std::unique_ptr<float[]> weights_, scores_, factor_;
  std::vector<float> mean_;  // sum_j weight_j d weight_j of each row: dout . out
};

}  // namespace

void AttentionBackward(const Call& call, const AttentionResult<float>& result,
                       const HeadMatrices<float>& dq, const HeadMatrices<float>& dk,
                       const HeadMatrices<float>& dv) {
  const InputGradients gradients{dq, dk, dv};
  ParallelFor(call.key_heads, 1, [&](int64_t begin, int64_t end) {
    const TeamOfOne alone;
    KeyHead head(call, result, gradients);
    for (int64_t at = begin; at < end; ++at) head.Run(at);
  });
}

}  // namespace torus::cpu
