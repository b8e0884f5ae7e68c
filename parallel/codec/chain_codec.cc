#include "parallel/codec/chain_codec.h"

#include "parallel/codec/float_scratch.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The context for the rest of the chain.
CodecContext ForRest(const CodecContext& context, size_t values) {
  CodecContext rest = context.Inside("rest");
  rest.shape = Shape{static_cast<int64_t>(values)};
  rest.samples = {};
  return rest;
}

}  // namespace

std::string ChainCodec::name() const {
  if (rest_->is_identity()) return transform_->name();
  return fmt::format("{}+{}", transform_->name(), rest_->name());
}

size_t ChainCodec::MaxTensorBytes(const Shape& shape) const {
  return transform_->SideBytes(shape) + rest_->MaxTensorBytes(Shape{transform_->Values(shape)});
}

template <class Function>
size_t ChainCodec::EncodeKept(const CodecContext& context, std::span<const float> in,
                              std::span<std::byte> out, std::span<float> kept, Function&& encode) {
  const size_t most = MaxTensorBytes(context.shape);
  Require(out.size() >= most, name(), "{} values need {} bytes, got room for {}", in.size(), most,
          out.size());
  const size_t side = transform_->SideBytes(context.shape);
  if (!transform_->Forward(context.Inside("first"), in, kept, out.first(side))) return 0;
  const size_t written = encode(ForRest(context, kept.size()), kept, out.subspan(side));
  return written == 0 && !kept.empty() ? 0 : side + written;
}

size_t ChainCodec::EncodeTensor(const CodecContext& context, std::span<const float> in,
                                std::span<std::byte> out) {
  FloatScratch kept(static_cast<size_t>(transform_->Values(context.shape)));
  return EncodeKept(
      context, in, out, kept.span(),
      [&](const CodecContext& inside, std::span<const float> values, std::span<std::byte> to) {
        return rest_->EncodeTensor(inside, values, to);
      });
}

size_t ChainCodec::EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                                   std::span<std::byte> out, std::span<float> decoded) {
  const auto values = static_cast<size_t>(transform_->Values(context.shape));
  FloatScratch kept(values), restored(values);
  const size_t bytes = EncodeKept(
      context, in, out, kept.span(),
      [&](const CodecContext& inside, std::span<const float> from, std::span<std::byte> to) {
        return rest_->EncodeAndDecode(inside, from, to, restored.span());
      });
  if (bytes > 0)
    transform_->Inverse(context.Inside("first"), restored.span(),
                        out.first(transform_->SideBytes(context.shape)), decoded);
  return bytes;
}

void ChainCodec::DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                              std::span<float> out) {
  const size_t side = transform_->SideBytes(context.shape);
  Require(in.size() >= side, name(), "needs {} bytes beside the values, got {}", side, in.size());
  FloatScratch scratch(static_cast<size_t>(transform_->Values(context.shape)));
  const std::span<float> kept = scratch.span();
  rest_->DecodeTensor(ForRest(context, kept.size()), in.subspan(side), kept);
  transform_->Inverse(context.Inside("first"), kept, in.first(side), out);
}

FactorCodec::Sizes ChainCodec::SizesOf(const Shape& shape) const {
  return transform_->factors()->SizesOf(shape);
}

void ChainCodec::MakeP(const CodecContext& context, std::span<float> values,
                       std::span<float> p) const {
  transform_->factors()->MakeP(context.Inside("first"), values, p);
}

void ChainCodec::MakeQ(const CodecContext& context, std::span<const float> values,
                       std::span<float> p, std::span<float> q) const {
  transform_->factors()->MakeQ(context.Inside("first"), values, p, q);
}

void ChainCodec::Multiply(const CodecContext& context, std::span<const float> p,
                          std::span<const float> q, std::span<float> values) const {
  transform_->factors()->Multiply(context.Inside("first"), p, q, values);
}

}  // namespace torus::parallel
