// The models that have an ONNX form, one file for each family.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/descriptor.h"
#include "tools/convert/onnx/graph.h"

namespace torus::onnx {

// A model with its weights.
struct Source {
  ModelDescriptor model;
  nlohmann::json config;           // as model.build takes it
  std::vector<NamedTensor> state;  // StateDict of what it builds, floating tensors in f32
  int64_t image_size = 224;        // height and width of VGG's images
};

// Each adds the whole graph: the inputs, the nodes, and the output "logits". Images are "images"
// (batch, 3, height, width), normalized as in training; texts are "input_ids" (batch, length),
// i64, and for RoBERTa "attention_mask" of the same shape, 1 for tokens and 0 for padding. The
// batch and the length are free; height and width too, except for VGG, whose last pooling
// depends on them, and the Vision Transformer, which has so many positions.
void AddResNet(Graph& graph, const Source& source);  // and CIFAR's
void AddVgg(Graph& graph, const Source& source);
void AddMobileNetV2(Graph& graph, const Source& source);
void AddVit(Graph& graph, const Source& source);
void AddRoberta(Graph& graph, const Source& source);
void AddGpt2(Graph& graph, const Source& source);

// Throws BadInput, with the names of `models` that have an ONNX form, if `model` has none.
void RequireOnnxForm(const ModelDescriptor& model, const std::vector<ModelDescriptor>& models);

// Whether Source::image_size says the size of the graph's images: VGG's. Other models take images
// of any size, or of the one that their weights have.
bool TakesImageSize(const ModelDescriptor& model);

// The whole ONNX model. Throws BadInput if the weights are more than a file of protobuf holds.
ModelProto ToOnnx(const Source& source);

}  // namespace torus::onnx
