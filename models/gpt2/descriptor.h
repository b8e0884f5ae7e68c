// What GPT-2's folder tells of published files.
#pragma once

#include "models/checkpoint/names.h"

namespace torus {

// What GPT-2's files are named by: those of the hub were saved without a head.
NameRules Gpt2Names();

}  // namespace torus
