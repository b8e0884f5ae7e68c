#include "parallel/codec/low_rank.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "parallel/codec/factors.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

// Draws random columns for a cold start, or only for columns that have become 0.
void DrawColumns(std::span<float> q, int64_t rank, uint64_t step, bool only_zero) {
  const RandomStream stream({.step = step, .layer = HashName("powersgd")});
  for (int64_t r = 0; r < rank; ++r) {
    bool zero = true;
    for (size_t i = r; i < q.size(); i += rank) zero = zero && q[i] == 0;
    if (only_zero && !zero) continue;
    for (size_t i = r; i < q.size(); i += rank) q[i] = static_cast<float>(stream.Normal(i));
  }
}

// The initial Q: what the last tensor with as many columns left, or random.
std::vector<float> BeginQ(const CodecContext& context, int64_t columns, int64_t rank) {
  std::vector<float> q(static_cast<size_t>(columns * rank));
  const bool kept = context.memory != nullptr;
  const auto at = kept ? context.memory->values.find(fmt::format("q {}", columns))
                       : std::map<std::string, std::vector<float>>::iterator{};
  const bool warm = kept && at != context.memory->values.end() && at->second.size() == q.size();
  if (warm) q = at->second;
  DrawColumns(q, rank, warm ? static_cast<uint64_t>(context.step) : 0, warm);
  return q;
}

void KeepQ(const CodecContext& context, int64_t columns, std::span<const float> q) {
  if (context.memory != nullptr && context.training)
    context.memory->Change(fmt::format("q {}", columns)).assign(q.begin(), q.end());
}

// Whether all values are finite. If not, sets all of `made` to NaN.
bool IsFinite(std::span<const float> values, std::span<float> made) {
  if (RangeOf(values).finite) return true;
  std::ranges::fill(made, std::numeric_limits<float>::quiet_NaN());
  return false;
}

}  // namespace

LowRank::LowRank(Method method, int64_t rank) : method_(method), rank_(rank) {
  Require(rank >= 1 && rank <= kMostRank, method == Method::kSvd ? "svd" : "powersgd",
          "takes a rank of 1 to {}, got {}", kMostRank, rank);
}

std::string LowRank::name() const {
  return fmt::format("{}:{}", method_ == Method::kSvd ? "svd" : "powersgd", rank_);
}

int64_t LowRank::Values(const Shape& shape) const {
  const MatrixForm form = MatrixFormOf(shape);
  return form.Pays(rank_) ? form.FactorValues(rank_) : form.rows * form.columns;
}

bool LowRank::Forward(const CodecContext& context, std::span<const float> in, std::span<float> kept,
                      std::span<std::byte> /*side*/) const {
  if (!RangeOf(in).finite) return false;
  const MatrixForm form = MatrixFormOf(context.shape);
  if (!form.Pays(rank_)) {
    std::ranges::copy(in, kept.begin());
    return true;
  }
  const int64_t rank = form.RankOf(rank_);
  const std::span<float> p = kept.first(static_cast<size_t>(form.rows * rank));
  const std::span<float> q = kept.subspan(p.size());
  if (method_ == Method::kSvd) {
    NearestFactors(in, form, rank, p, q);
    return RangeOf(kept).finite;
  }
  TimesRight(in, form, BeginQ(context, form.columns, rank), rank, p);
  if (!RangeOf(p).finite) return false;
  Orthonormalise(p, form.rows, rank);
  TimesLeft(in, form, p, rank, q);
  if (!RangeOf(q).finite) return false;
  KeepQ(context, form.columns, q);
  return true;
}

void LowRank::Inverse(const CodecContext& context, std::span<const float> kept,
                      std::span<const std::byte> /*side*/, std::span<float> out) const {
  const MatrixForm form = MatrixFormOf(context.shape);
  if (!form.Pays(rank_)) {
    std::ranges::copy(kept, out.begin());
    return;
  }
  const int64_t rank = form.RankOf(rank_);
  const size_t rows = static_cast<size_t>(form.rows * rank);
  Expand(kept.first(rows), kept.subspan(rows), form, rank, out);
}

FactorCodec::Sizes LowRank::SizesOf(const Shape& shape) const {
  const MatrixForm form = MatrixFormOf(shape);
  if (!form.Pays(rank_)) return {};
  const int64_t rank = form.RankOf(rank_);
  return {form.rows * rank, form.columns * rank};
}

void LowRank::MakeP(const CodecContext& context, std::span<float> values,
                    std::span<float> p) const {
  const MatrixForm form = MatrixFormOf(context.shape);
  const int64_t rank = form.RankOf(rank_);
  if (!IsFinite(values, p)) return;
  TimesRight(values, form, BeginQ(context, form.columns, rank), rank, p);
  IsFinite(p, p);
}

void LowRank::MakeQ(const CodecContext& context, std::span<const float> values, std::span<float> p,
                    std::span<float> q) const {
  const MatrixForm form = MatrixFormOf(context.shape);
  const int64_t rank = form.RankOf(rank_);
  if (!IsFinite(p, q)) return;
  Orthonormalise(p, form.rows, rank);
  TimesLeft(values, form, p, rank, q);
  IsFinite(q, q);
}

void LowRank::Multiply(const CodecContext& context, std::span<const float> p,
                       std::span<const float> q, std::span<float> values) const {
  const MatrixForm form = MatrixFormOf(context.shape);
  if (!IsFinite(q, values)) return;
  Expand(p, q, form, form.RankOf(rank_), values);
  KeepQ(context, form.columns, q);
}

}  // namespace torus::parallel
