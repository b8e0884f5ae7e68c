#include "parallel/codec/error_feedback.h"

#include <algorithm>
#include <cmath>

#include "parallel/codec/float_scratch.h"
#include "parallel/codec/for_each_block.h"

namespace torus::parallel {
namespace {

// sum[i] = in[i] + scale residual[i].
void AddResidual(std::span<const float> in, float scale, std::span<const float> residual,
                 std::span<float> sum) {
  ForEachBlock(static_cast<int64_t>(sum.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum[i] = in[i] + scale * residual[i];
  });
}

// residual[i] = (sum[i] - sent[i]) / scale.
void KeepResidual(std::span<const float> sum, std::span<const float> sent, float scale,
                  std::span<float> residual) {
  const float unscaled = 1 / scale;  // exact: of a power of two
  ForEachBlock(static_cast<int64_t>(sum.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) residual[i] = (sum[i] - sent[i]) * unscaled;
  });
}

bool Keeps(const CodecContext& context) { return context.memory != nullptr && context.training; }

// The residual of the first `count` values of a tensor, to be changed.
std::span<float> ResidualOf(const CodecContext& context, size_t count) {
  std::vector<float>& residual = context.memory->Change("residual");
  if (residual.size() < count) residual.resize(count);
  return std::span(residual).first(count);
}

}  // namespace

std::string ErrorFeedback::name() const { return fmt::format("ef({})", inner_->name()); }

size_t ErrorFeedback::EncodeTensor(const CodecContext& context, std::span<const float> in,
                                   std::span<std::byte> out) {
  if (!Keeps(context)) return inner_->EncodeTensor(context.Inside("ef"), in, out);
  FloatScratch sent(in.size());
  return EncodeAndDecode(context, in, out, sent.span());
}

size_t ErrorFeedback::EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                                      std::span<std::byte> out, std::span<float> decoded) {
  const CodecContext inside = context.Inside("ef");
  if (!Keeps(context)) return inner_->EncodeAndDecode(inside, in, out, decoded);
  const std::span<float> left = ResidualOf(context, in.size());
  FloatScratch sum(in.size());
  const auto scale = static_cast<float>(context.scale);
  AddResidual(in, scale, left, sum.span());
  const size_t bytes = inner_->EncodeAndDecode(inside, sum.span(), out, decoded);
  if (bytes > 0) KeepResidual(sum.span(), decoded, scale, left);
  return bytes;
}

void ErrorFeedback::DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                                 std::span<float> out) {
  inner_->DecodeTensor(context.Inside("ef"), in, out);
}

void ErrorFeedback::MakeP(const CodecContext& context, std::span<float> values,
                          std::span<float> p) const {
  if (Keeps(context))
    AddResidual(values, static_cast<float>(context.scale), ResidualOf(context, values.size()),
                values);
  inner_->factors()->MakeP(context.Inside("ef"), values, p);
}

void ErrorFeedback::MakeQ(const CodecContext& context, std::span<const float> values,
                          std::span<float> p, std::span<float> q) const {
  const CodecContext inside = context.Inside("ef");
  inner_->factors()->MakeQ(inside, values, p, q);
  if (!Keeps(context) || !std::isfinite(q[0])) return;
  CodecContext forgetful = inside;
  forgetful.memory = nullptr;
  FloatScratch sent(values.size());
  inner_->factors()->Multiply(forgetful, p, q, sent.span());
  KeepResidual(values, sent.span(), static_cast<float>(context.scale),
               ResidualOf(context, values.size()));
}

void ErrorFeedback::Multiply(const CodecContext& context, std::span<const float> p,
                             std::span<const float> q, std::span<float> values) const {
  inner_->factors()->Multiply(context.Inside("ef"), p, q, values);
}

}  // namespace torus::parallel
