// CodecNumber: a codec with all its parameters in four bytes, for the headers of messages.
#pragma once

#include <cstdint>

#include "parallel/codec/codec.h"

namespace torus::parallel {

// To be raised when the wire format of any codec changes.
inline constexpr uint16_t kCodecVersion = 2;

// The CRC-32C of kCodecVersion and of the codec's name, or 1 if that is 0. Two codecs with equal
// numbers read each other's bytes; that different ones get equal numbers has a chance of 2^-32.
uint32_t CodecNumber(const Codec& codec);

}  // namespace torus::parallel
