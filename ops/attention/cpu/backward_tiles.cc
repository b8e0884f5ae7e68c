#include <algorithm>
#include <vector>

#include "ops/attention/cpu/tile_operand.h"
#include "ops/attention/cpu/tiles.h"
#include "runtime/team_size_guard.h"

namespace torus::cpu {
namespace {

constexpr int64_t kRows = 128, kKeys = 128;  // two tiles of 64 KB

void DotsOfRows(int64_t rows, int64_t width, const HeadMatrices<const float>& a,
                const HeadMatrices<const float>& b, int64_t head, float* out) {
  RowDots(rows, width, a.at(head), a.stride, b.at(head), b.stride, out);
}

void DotsOfRows(int64_t rows, int64_t width, const HeadMatrices<const BFloat16>& a,
                const HeadMatrices<const BFloat16>& b, int64_t head, float* out) {
  std::vector<float> wide(static_cast<size_t>(2 * width));
  float *left = wide.data(), *right = left + width;
  for (int64_t r = 0; r < rows; ++r) {
    Widen(a.at(head, r), width, left);
    Widen(b.at(head, r), width, right);
    RowDots(1, width, left, width, right, width, out + r);
  }
}

// One key head with the query heads that use it.
template <class T>
class KeyHead {
 public:
  KeyHead(const AttentionCall<T>& call, const AttentionResult<T>& result,
          const AttentionGradient<T>& gradients)
      : call_(call),
        result_(result),
        d_(gradients),
        stride_(std::min(kKeys, call.keys)),
        weights_(Scratch(std::min(kRows, call.rows) * stride_)),
        scores_(Scratch(std::min(kRows, call.rows) * stride_)),
        factor_(Scratch(stride_)),
        operand_(std::min(kRows, call.rows) * stride_),
        query_(std::min(kRows, call.rows), call.width),
        key_(call.keys, call.width),
        value_(call.keys, call.value_width),
        mean_(static_cast<size_t>(call.rows)) {}

  void Run(int64_t key_head) {
    if (d_.key.defined()) Start(key_, d_.key, key_head);
    if (d_.value.defined()) Start(value_, d_.value, key_head);
    for (int64_t head = key_head * call_.group; head < (key_head + 1) * call_.group; ++head)
      QueryHead(head);
    if (d_.key.defined()) key_.Finish(call_.keys);
    if (d_.value.defined()) value_.Finish(call_.keys);
  }

 private:
  // Whether the gradients of the scores are needed: for query or key.
  bool WantsScores() const { return d_.query.defined() || d_.key.defined(); }

  void Start(RowSums<T>& sums, const HeadMatrices<T>& gradient, int64_t key_head) const {
    sums.Begin(gradient.at(key_head), gradient.stride);
    sums.Clear(call_.keys);
  }

  void QueryHead(int64_t head) {
    if (WantsScores())
      DotsOfRows(call_.rows, call_.value_width, result_.dout, result_.out, head, mean_.data());
    for (int64_t row = 0; row < call_.rows; row += kRows) {
      const int64_t rows = std::min(kRows, call_.rows - row);
      const int64_t seen = KeysSeen(call_, row + rows - 1);
      if (d_.query.defined()) query_.Begin(d_.query.at(head, row), d_.query.stride);
      if (d_.query.defined() && seen == 0) query_.Clear(rows);
      for (int64_t key = 0; key < seen; key += kKeys)
        Tile({head, row, rows, key, std::min(kKeys, seen - key)});
      if (d_.query.defined()) query_.Finish(rows);
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
    RowsTimesRows(p.rows, p.keys, call_.value_width, 1.0f, result_.dout.at(p.head, p.row),
                  result_.dout.stride, call_.v.at(key_head, p.key), call_.v.stride, scores_.get(),
                  stride_);
    ApplyDropout(call_, p, scores_.get(), stride_, factor_.get());
    ScoreGradients(weights, mean_.data() + p.row, scores_.get());
    operand_.Take(scores_.get(), stride_, p.rows, p.keys, call_.scale);
    if (d_.query.defined())
      operand_.Times(Transpose::kNo, p.rows, call_.width, p.keys, call_.k.at(key_head, p.key),
                     call_.k.stride, p.key > 0, query_.at(0), query_.stride());
    if (d_.key.defined())
      operand_.Times(Transpose::kYes, p.keys, call_.width, p.rows, call_.q.at(p.head, p.row),
                     call_.q.stride, true, key_.at(p.key), key_.stride());
  }

  // Changes the weights.
  void AddValue(const TilePlace& p) {
    ApplyDropout(call_, p, weights_.get(), stride_, factor_.get());
    operand_.Take(weights_.get(), stride_, p.rows, p.keys, 1.0f);
    operand_.Times(Transpose::kYes, p.keys, call_.value_width, p.rows,
                   result_.dout.at(p.head, p.row), result_.dout.stride, true, value_.at(p.key),
                   value_.stride());
  }

  const AttentionCall<T>& call_;
  const AttentionResult<T>& result_;
  const AttentionGradient<T>& d_;
  int64_t stride_;
  std::unique_ptr<float[]> weights_, scores_, factor_;
  TileOperand<T> operand_;
  RowSums<T> query_, key_, value_;
  std::vector<float> mean_;  // sum_j weight_j d weight_j of each row: dout . out
};

template <class T>
void Backward(const AttentionCall<T>& call, const AttentionResult<T>& result,
              const AttentionGradient<T>& d) {
  ParallelFor(call.key_heads, 1, [&](int64_t begin, int64_t end) {
    const TeamSizeGuard alone(1);  // GEMM's bits may depend on the team
    KeyHead<T> head(call, result, d);
    for (int64_t at = begin; at < end; ++at) head.Run(at);
  });
}

}  // namespace

void AttentionBackward(const AttentionCall<float>& call, const AttentionResult<float>& result,
                       const AttentionGradient<float>& d) {
  Backward(call, result, d);
}

void AttentionBackward(const AttentionCall<BFloat16>& call, const AttentionResult<BFloat16>& result,
                       const AttentionGradient<BFloat16>& d) {
  Backward(call, result, d);
}

}  // namespace torus::cpu
