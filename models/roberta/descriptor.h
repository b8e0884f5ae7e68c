// Names in published files of RoBERTa.
#pragma once

#include "models/checkpoint/names.h"

namespace torus {

// The name rules of RoBERTa's files: those saved without a head have a pooler.
NameRules RobertaNames();

}  // namespace torus
