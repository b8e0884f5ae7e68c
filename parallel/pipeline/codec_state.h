// Converts the state of the links' codecs to named tensors and back, for checkpoints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/codec/codec_context.h"
#include "parallel/pipeline/tensor_link.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// AddMemory adds the contents of `memory` to `state` under names that begin with `prefix`, each a
// vector of f32 in memory of its own; TakeMemory restores a memory from the tensors of such names.
void AddMemory(const std::string& prefix, const CodecMemory& memory,
               std::vector<NamedTensor>& state);
CodecMemory TakeMemory(const std::map<std::string, Tensor>& state, const std::string& prefix);

// Adds the state of the link's codec, each tensor a vector of f32 in memory of its own, under names
// that begin with MemoryName: "activation before block 18 sent/0/ef/first/q 40", where 0 is the
// index of the tensor in the link. State in files stays there, and is synced to disk.
void AddCodecState(TensorLink& link, std::vector<NamedTensor>& state);

// Replaces the codec state of this link by its tensors in `state`, found by name.
void TakeCodecState(const std::map<std::string, Tensor>& state, TensorLink& link);

}  // namespace torus::parallel
