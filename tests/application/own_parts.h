// What an application adds to Torus without touching it: a model, a codec and a schedule.
#pragma once

#include <memory>
#include <vector>

#include "models/descriptor.h"
#include "parallel/codec/codec.h"
#include "parallel/schedule/schedule.h"

namespace application {

// "pixels": one hidden layer over the pixels of an image.
const std::vector<torus::ModelDescriptor>& Models();

// "half": the upper 16 bits of each value. Adds it to the list of codecs; once a process.
void AddHalfCodec();

// "alternating": one backward as soon as there is one to run (PipeDream-Flush; Narayanan et al.
// 2021, section 3).
torus::parallel::Schedule Alternating(const torus::parallel::PipelineSize& size);

}  // namespace application
