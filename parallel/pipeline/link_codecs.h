// The codecs of a cut or skip, one for each direction.
#pragma once

#include "parallel/codec/codec.h"

namespace torus::parallel {

// Null, or the identity: tensors are sent as they are.
struct LinkCodecs {
  Codec* activation = nullptr;  // of the forward
  Codec* gradient = nullptr;    // of the backward
};

}  // namespace torus::parallel
