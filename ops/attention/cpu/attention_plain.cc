// The plain version in f64: one row of scores at a time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/attention/cpu/attention_call.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

using Call = AttentionCall<double>;

double Dot(int64_t n, const double* a, const double* b) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void AddScaled(int64_t n, double factor, const double* in, double* out) {
  for (int64_t i = 0; i < n; ++i) out[i] += factor * in[i];
}

int64_t Seen(const Call& call, int64_t row) {
  return call.causal ? std::min(call.keys, row + 1) : call.keys;
}

// The scores of one row, for the keys it attends to.
void Scores(const Call& call, int64_t head, int64_t row, double* score) {
  const double* q = call.q.at(head, row);
  const ScoreMask<double>& mask = call.mask;
  for (int64_t j = 0; j < Seen(call, row); ++j) {
    score[j] = call.scale * Dot(call.width, q, call.k.at(head / call.group, j));
    if (mask.offset == nullptr) continue;
    const int64_t at = mask.offset[head] + row * mask.row_step + j * mask.key_step;
    if (mask.added != nullptr)
      score[j] += mask.added[at];
    else if (!mask.allowed[at])
      score[j] = -std::numeric_limits<double>::infinity();
  }
}

// The dropout factor of each weight of the row; ones without dropout.
void Factors(const Call& call, int64_t head, int64_t row, std::vector<double>& factor) {
  if (call.dropout.streams != nullptr) DropoutFactors(call, head, row, 0, call.keys, factor.data());
}

// Scores become weights.
void Normalize(int64_t n, double* score, double* norm_largest, double* log_sum) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t j = 0; j < n; ++j) largest = std::max(largest, score[j]);
  if (std::isinf(largest) && largest < 0) largest = 0;
  for (int64_t j = 0; j < n; ++j) {
    score[j] = std::exp(score[j] - largest);
    sum += score[j];
  }
  if (sum == 0) sum = 1;
  for (int64_t j = 0; j < n; ++j) score[j] /= sum;
  *norm_largest = largest;
  *log_sum = std::log(sum);
}

void FillZero(const HeadMatrices<double>& m, int64_t head, int64_t rows, int64_t width) {
  for (int64_t r = 0; m.defined() && r < rows; ++r) std::fill_n(m.at(head, r), width, 0.0);
}

void KeyHeadBackward(const Call& call, const AttentionResult<double>& result, int64_t key_head,
                     const AttentionGradient<double>& d) {
  FillZero(d.key, key_head, call.keys, call.width);
  FillZero(d.value, key_head, call.keys, call.value_width);
  std::vector<double> score(call.keys), factor(call.keys, 1.0);
  for (int64_t head = key_head * call.group; head < (key_head + 1) * call.group; ++head) {
    FillZero(d.query, head, call.rows, call.width);
    for (int64_t i = 0; i < call.rows; ++i) {
      Scores(call, head, i, score.data());
      Factors(call, head, i, factor);
      const int64_t at = head * call.rows + i;
      const double *grad = result.dout.at(head, i), *q = call.q.at(head, i);
      const double mean = Dot(call.value_width, grad, result.out.at(head, i));
      for (int64_t j = 0; j < Seen(call, i); ++j) {
        const double p = std::exp(score[j] - result.norms.largest[at] - result.norms.log_sum[at]);
        const double dp = factor[j] * Dot(call.value_width, grad, call.v.at(key_head, j));
        const double ds = call.scale * p * (dp - mean);
        if (d.query.defined())
          AddScaled(call.width, ds, call.k.at(key_head, j), d.query.at(head, i));
        if (d.key.defined()) AddScaled(call.width, ds, q, d.key.at(key_head, j));
        if (d.value.defined())
          AddScaled(call.value_width, p * factor[j], grad, d.value.at(key_head, j));
      }
    }
  }
}

}  // namespace

void Attention(const Call& call, const HeadMatrices<double>& out, const RowNorms<double>& norms) {
  ParallelFor(call.heads * call.rows, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> score(call.keys), factor(call.keys, 1.0);
    for (int64_t at = begin; at < end; ++at) {
      const int64_t head = at / call.rows, row = at % call.rows;
      Scores(call, head, row, score.data());
      Normalize(Seen(call, row), score.data(), norms.largest + at, norms.log_sum + at);
      Factors(call, head, row, factor);
      std::fill_n(out.at(head, row), call.value_width, 0.0);
      for (int64_t j = 0; j < Seen(call, row); ++j)
        AddScaled(call.value_width, score[j] * factor[j], call.v.at(head / call.group, j),
                  out.at(head, row));
    }
  });
}

void AttentionBackward(const Call& call, const AttentionResult<double>& result,
                       const AttentionGradient<double>& d) {
  ParallelFor(call.key_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head) KeyHeadBackward(call, result, head, d);
  });
}

}  // namespace torus::cpu
