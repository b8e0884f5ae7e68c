#include "parallel/codec/error_feedback.h"

#include <algorithm>

#include "parallel/codec/float_scratch.h"
#include "parallel/codec/for_each_block.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// out[i] = a[i] + sign b[i].
void Add(std::span<const float> a, float sign, std::span<const float> b, std::span<float> out) {
  ForEachBlock(static_cast<int64_t>(out.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = a[i] + sign * b[i];
  });
}

}  // namespace

ErrorFeedback::ErrorFeedback(std::unique_ptr<Codec> inner) : inner_(std::move(inner)) {
  Require(!inner_->decodes_from_memory(), "ef",
          "takes a codec whose decoder needs no memory, got {}", inner_->name());
}

std::string ErrorFeedback::name() const { return fmt::format("ef({})", inner_->name()); }

size_t ErrorFeedback::EncodeTensor(const CodecContext& context, std::span<const float> in,
                                   std::span<std::byte> out) {
  const CodecContext inside = context.Inside("ef");
  if (context.memory == nullptr || !context.training) return inner_->EncodeTensor(inside, in, out);
  std::vector<float>& residual = context.memory->values["residual"];
  if (residual.size() < in.size()) residual.resize(in.size());
  const std::span<float> left = std::span(residual).first(in.size());
  FloatScratch sum(in.size()), sent(in.size());
  Add(in, 1, left, sum.span());
  const size_t bytes = inner_->EncodeTensor(inside, sum.span(), out);
  if (bytes == 0) return 0;
  inner_->DecodeTensor(inside, out.first(bytes), sent.span());
  Add(sum.span(), -1, sent.span(), left);
  return bytes;
}

void ErrorFeedback::DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                                 std::span<float> out) {
  inner_->DecodeTensor(context.Inside("ef"), in, out);
}

}  // namespace torus::parallel
