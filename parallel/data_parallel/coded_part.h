// A part of what replicas sum through a codec.
#pragma once

#include <span>

#include "parallel/codec/codec_context.h"

namespace torus::parallel {

// The values of one tensor, its shape, and the codec's state for it.
struct CodedPart {
  std::span<float> values;
  Shape shape;
  CodecMemory* memory = nullptr;
};

// The codec's context for part `number`, made from `context` of the whole sum.
inline CodecContext ContextOf(const CodecContext& context, const CodedPart& part, size_t number) {
  CodecContext own = context;
  own.shape = part.shape;
  own.memory = part.memory;
  own.stream += number;
  return own;
}

}  // namespace torus::parallel
