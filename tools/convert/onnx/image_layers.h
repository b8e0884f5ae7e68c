// Layers of image models as ONNX's nodes. Values are images (N, C, H, W); prefixes are names of
// layers in the model's state.
#pragma once

#include <cstdint>
#include <string>

#include "tools/convert/onnx/graph.h"

namespace torus::onnx {

// The input "images" (batch, 3, height, width).
std::string Images(Graph& graph, const Size& height, const Size& width);

struct Convolution {
  int64_t stride = 1, padding = 0, groups = 1;  // of both axes
};

// `prefix`.weight (O, I / groups, kH, kW), and .bias where the state has one.
std::string Conv(Graph& graph, const std::string& x, const std::string& prefix,
                 const Convolution& options = {});

// A batch norm by its running statistics, with the epsilon of nn::BatchNorm2d.
std::string BatchNorm(Graph& graph, const std::string& x, const std::string& prefix);

std::string Relu6(Graph& graph, const std::string& x);

std::string MaxPool(Graph& graph, const std::string& x, int64_t kernel, int64_t stride,
                    int64_t padding = 0);

// The mean of all pixels, (N, C).
std::string GlobalAveragePool(Graph& graph, const std::string& x);

// A linear layer of rows (N, in): `prefix`.weight (out, in) and .bias.
std::string LinearOfRows(Graph& graph, const std::string& x, const std::string& prefix);

// The output "logits" (batch, classes): such a layer of rows (batch, in).
void Classify(Graph& graph, const std::string& x, const std::string& prefix);

}  // namespace torus::onnx
