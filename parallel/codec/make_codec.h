// The one list of codecs: a new codec is a line in make_codec.cc.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/codec/codec.h"

namespace torus::parallel {

// All names that MakeCodec takes, for help texts and tests.
std::vector<std::string> CodecNames();
// The same, each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> CodecDescriptions();

// The codec of a flag's value, never null. Known names:
//   none      the float32 bytes as they are (is_identity)
//   sortq:B   sort quantization to B = 16, 12, 8 or 4 bits a value (sort_quantization.h)
// BadInput, listing the names, for another.
std::unique_ptr<Codec> MakeCodec(const std::string& name);

}  // namespace torus::parallel
