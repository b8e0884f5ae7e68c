// GPT-3 XL with either head, as the registry lists them.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// gpt3-xl, which classifies sentences, and gpt3-xl-lm; each takes its number of layers.
// Configurations have the names of Gpt3Options: vocab_size, positions, width, layers, heads and
// num_classes.
std::vector<ModelDescriptor> Gpt3Descriptors();

}  // namespace torus
