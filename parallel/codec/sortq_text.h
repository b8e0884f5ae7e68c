// Makes sort quantization from its text.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"
#include "parallel/codec/codec_text.h"

namespace torus::parallel {

// Accepts "sortq:8" or "sortq:Q6S2". Throws BadInput for anything else, and for sizes that
// sort_quantization.h refuses.
std::unique_ptr<Codec> MakeSortQuantization(const CodecPart& part);

}  // namespace torus::parallel
