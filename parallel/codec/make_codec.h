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
// The same with a short description of each.
std::vector<std::pair<std::string, std::string>> CodecDescriptions();

// The codec of a flag's value, never null. BadInput, listing the names, for another.
std::unique_ptr<Codec> MakeCodec(const std::string& name);

}  // namespace torus::parallel
