#include "tools/convert/onnx/families.h"

#include <fmt/ranges.h>

#include "runtime/error.h"

namespace torus::onnx {
namespace {

using Add = void (*)(Graph&, const Source&);

// Null for a model without ONNX form.
Add AddOf(const ModelDescriptor& model) {
  const std::string& type = model.transformers.model_type;
  if (type == "gpt2") return AddGpt2;
  if (type == "roberta") return AddRoberta;
  if (model.name.starts_with("resnet") || model.name.starts_with("cifar_resnet")) return AddResNet;
  if (model.name.starts_with("vgg")) return AddVgg;
  if (model.name.starts_with("vit_") || model.name == "vision_transformer") return AddVit;
  return model.name == "mobilenet_v2" ? AddMobileNetV2 : nullptr;
}

void CheckSize(const Source& source) {
  // Of a message of protobuf, with room for all that is no weight.
  constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - (uint64_t{1} << 24);
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : source.state) bytes += tensor.value.bytes();
  Require(bytes <= kMostBytes, "onnx",
          "a file of ONNX holds weights of up to {} bytes, got {} bytes in f32", kMostBytes, bytes);
}

}  // namespace

void RequireOnnxForm(const ModelDescriptor& model, const std::vector<ModelDescriptor>& models) {
  std::vector<std::string> known;
  for (const ModelDescriptor& each : models)
    if (AddOf(each) != nullptr) known.push_back(each.name);
  Require(AddOf(model) != nullptr, "onnx", "{} has no ONNX form; those that have one: {}",
          model.name, fmt::join(known, ", "));
}

bool TakesImageSize(const ModelDescriptor& model) { return AddOf(model) == AddVgg; }

ModelProto ToOnnx(const Source& source) {
  const Add add = AddOf(source.model);
  TORUS_CHECK(add != nullptr, "{}", source.model.name);
  CheckSize(source);
  Graph graph(source.model.name, source.state);
  add(graph, source);
  return graph.Take();
}

}  // namespace torus::onnx
