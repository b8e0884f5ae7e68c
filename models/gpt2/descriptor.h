// Names in published files of GPT-2.
#pragma once

#include "models/checkpoint/names.h"

namespace torus {

// The name rules of GPT-2's files: those on the Hugging Face hub were saved without a head.
NameRules Gpt2Names();

}  // namespace torus
