// The one list of codecs: a new codec is a line in make_codec.cc.
//
// A text is a codec, "sortq:8"; parts joined by '+', each of which leaves values for the next,
// "topk:0.1+sortq:8"; one around another, "ef(topk:0.1)"; and behind a '/' what is encoded by
// itself, "uniform:4/channel".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/codec/codec.h"

namespace torus::parallel {

// Texts that MakeCodec takes, every entry of the list at least once: for tables, benchmarks, tests.
std::vector<std::string> CodecNames();
// How each entry is written, and a short description, for help texts: "uniform:BITS".
std::vector<std::pair<std::string, std::string>> CodecDescriptions();

// The codec of a flag's value, never null; its name() is the text in its shortest form. BadInput,
// listing how codecs are written, for another.
std::unique_ptr<Codec> MakeCodec(const std::string& text);

}  // namespace torus::parallel
