// The handshake before step 0: a stage tells the next one what it will get.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// `cut`: the first stage after it; one handshake a cut.
void SendSpecs(Transport& transport, int peer, int cut, const std::vector<TensorSpec>& specs);
std::vector<TensorSpec> RecvSpecs(Transport& transport, int peer, int cut);

// What `tensors` are.
std::vector<TensorSpec> SpecsOf(const std::vector<Tensor>& tensors);
// Zeros to match.
std::vector<Tensor> ZerosOf(const std::vector<TensorSpec>& specs);

}  // namespace torus::parallel
