// RoBERTa with either head, as the registry lists them.
#pragma once

#include <vector>

#include "models/descriptor.h"

namespace torus {

// roberta, which classifies sentences, and roberta-mlm; each takes its number of layers.
std::vector<ModelDescriptor> RobertaDescriptors();

// What RoBERTa's files are named by: those saved without a head have a pooler.
NameRules RobertaNames();

}  // namespace torus
