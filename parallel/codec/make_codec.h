// MakeCodec: makes the codec that a text names. The list of codecs is in codec_list.h.
//
// A text is one codec, "sortq:8"; parts joined by '+', where each leaves values for the next,
// "topk:0.1+sortq:8"; a codec around another, "ef(topk:0.1)"; or, with '/', a codec applied to each
// part of the tensor by itself, "uniform:4/channel".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/codec/codec.h"

namespace torus::parallel {

// Example texts that MakeCodec accepts, at least one for every entry of the list: for tables,
// benchmarks and tests.
std::vector<std::string> CodecNames();
// For help texts: how each entry is written ("uniform:BITS"), and a short description.
std::vector<std::pair<std::string, std::string>> CodecDescriptions();

// Makes the codec of a flag's value; never null. Its name() is the text in its shortest form.
// Throws BadInput, listing how codecs are written, for anything else.
std::unique_ptr<Codec> MakeCodec(const std::string& text);

}  // namespace torus::parallel
