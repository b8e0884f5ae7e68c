// GPT-2's sizes and nanoGPT's character model, as the registry lists them.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// gpt2, gpt2-medium, gpt2-large, gpt2-xl and gpt-char; each takes its number of layers.
std::vector<ModelDescriptor> Gpt2Descriptors();

// What GPT-2's files are named by: those of the hub were saved without a head.
NameRules Gpt2Names();

}  // namespace torus
