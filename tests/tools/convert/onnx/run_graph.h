// Runs a graph of ONNX with ops of ours, each node as the specification of its operator says.
#pragma once

#include <string>
#include <vector>

#include "autograd/variable.h"
#include "tools/convert/onnx/messages.pb.h"

namespace torus::onnx::testing {

// Computes in f64: constants of f32 are widened. `inputs` are the graph's, in their order, images
// as (N, C, H, W). Returns the first output. Throws InternalError for a node whose inputs are not
// there yet, and for operators and attributes that graphs of ours do not have.
Tensor RunGraph(const GraphProto& graph, const std::vector<Tensor>& inputs);

}  // namespace torus::onnx::testing
