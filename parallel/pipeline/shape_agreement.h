// The handshake before step 0: a stage tells the next one what it will get.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// `cut`: the first stage after it; one handshake a cut.
void SendSpecs(Transport& transport, int peer, int cut, const std::vector<TensorSpec>& specs);
std::vector<TensorSpec> RecvSpecs(Transport& transport, int peer, int cut);

// What comes out of a dry run of `stage` on zeros, with gradients off and in evaluation mode.
std::vector<TensorSpec> OutputSpecs(const Stage& stage, const std::vector<TensorSpec>& inputs);

}  // namespace torus::parallel
