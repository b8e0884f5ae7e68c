// A part of what replicas sum through a codec.
#pragma once

#include <span>

#include "parallel/codec/codec_context.h"

namespace torus::parallel {

// Consecutive values of one shape, and what the codec remembers of them.
struct CodedPart {
  std::span<float> values;
  Shape shape;
  CodecMemory* memory = nullptr;
};

// For the codec: `context`, of the whole sum, with what is known of its part `number`.
inline CodecContext ContextOf(const CodecContext& context, const CodedPart& part, size_t number) {
  CodecContext own = context;
  own.shape = part.shape;
  own.memory = part.memory;
  own.stream += number;
  return own;
}

}  // namespace torus::parallel
