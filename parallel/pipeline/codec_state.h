// What the codecs of links remember, as named tensors: for checkpoints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/codec/codec_context.h"
#include "parallel/pipeline/tensor_link.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Adds what `memory` holds under names that begin with `prefix`, each a vector of f32 in memory of
// its own; and puts back those of `state`.
void AddMemory(const std::string& prefix, const CodecMemory& memory,
               std::vector<NamedTensor>& state);
CodecMemory TakeMemory(const std::map<std::string, Tensor>& state, const std::string& prefix);

// Adds the link's, each a vector of f32 in memory of its own, under names that begin with
// MemoryName: "activation 1 sent/0/ef/first/q 40", where 0 is the tensor of the link. What is in
// files stays there, and is on the disk then.
void AddCodecState(TensorLink& link, std::vector<NamedTensor>& state);

// Puts back those of `state`, by name, that are this link's; it remembers nothing else.
void TakeCodecState(const std::map<std::string, Tensor>& state, TensorLink& link);

}  // namespace torus::parallel
