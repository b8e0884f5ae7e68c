// What RoBERTa's folder tells of published files.
#pragma once

#include "models/checkpoint/names.h"

namespace torus {

// What RoBERTa's files are named by: those saved without a head have a pooler.
NameRules RobertaNames();

}  // namespace torus
