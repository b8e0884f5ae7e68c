// Sort quantization by its text.
#pragma once

#include <memory>

#include "parallel/codec/codec.h"
#include "parallel/codec/codec_text.h"

namespace torus::parallel {

// Of "sortq:8" or "sortq:Q6S2". BadInput for another, or sizes that sort_quantization.h refuses.
std::unique_ptr<Codec> MakeSortQuantization(const CodecPart& part);

}  // namespace torus::parallel
