#include "ops/cuda/cudnn/graph.h"

#include <fmt/ranges.h>

#include <utility>

namespace torus::cuda {
namespace {

// Appends the length first, so that encodings of different lists differ.
template <class List>
void Append(const List& list, Sizes& out) {
  out.push_back(static_cast<int64_t>(list.size()));
  out.insert(out.end(), list.begin(), list.end());
}

void Append(const GraphTensor& tensor, Sizes& out) {
  out.push_back(static_cast<int64_t>(tensor.dtype));
  out.push_back(static_cast<int64_t>(tensor.place));
  out.push_back(tensor.alignment);
  Append(tensor.dims, out);
  Append(tensor.strides, out);
}

void Append(const GraphNode& node, Sizes& out) {
  out.push_back(static_cast<int64_t>(node.op));
  out.push_back(node.output);
  out.push_back(node.axis);
  Append(node.inputs, out);
  for (const auto* pair :
       {&node.window.before, &node.window.after, &node.window.stride, &node.window.dilation})
    out.insert(out.end(), pair->begin(), pair->end());
}

}  // namespace

int64_t Graph::Add(GraphTensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<int64_t>(tensors.size()) - 1;
}

int64_t Graph::AddVirtual(Sizes dims, DType dtype) {
  Sizes strides = ContiguousStrides(dims);
  return Add({dtype, std::move(dims), std::move(strides), GraphPlace::kVirtual});
}

int64_t Graph::AddScalar(int64_t rank) {
  const Sizes ones(static_cast<size_t>(rank), 1);
  return Add({DType::kF32, ones, ones, GraphPlace::kByValue});
}

int64_t Graph::Apply(GraphOp op, std::vector<int64_t> inputs) {
  const int64_t output = AddVirtual(tensors[static_cast<size_t>(inputs[0])].dims);
  return Apply(op, std::move(inputs), output);
}

int64_t Graph::Apply(GraphOp op, std::vector<int64_t> inputs, int64_t output) {
  nodes.push_back({.op = op, .inputs = std::move(inputs), .output = output});
  return output;
}

Sizes ContiguousStrides(const Sizes& dims) {
  Sizes strides(dims.size(), 1);
  for (size_t i = dims.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * dims[i - 1];
  return strides;
}

Sizes NumbersOf(const Graph& graph) {
  Sizes out;
  out.push_back(static_cast<int64_t>(graph.tensors.size()));
  for (const GraphTensor& tensor : graph.tensors) Append(tensor, out);
  for (const GraphNode& node : graph.nodes) Append(node, out);
  return out;
}

std::string DescribeGraph(const Graph& graph) {
  std::string text = graph.name.empty() ? "graph" : graph.name;
  for (size_t i = 0; i < graph.tensors.size() && i < 2; ++i)
    text += fmt::format("{}{} ({})", i == 0 ? " of " : " and ", Name(graph.tensors[i].dtype),
                        fmt::join(graph.tensors[i].dims, ", "));
  return text;
}

int64_t AlignmentOf(const void* address) {
  const uintptr_t bits = reinterpret_cast<uintptr_t>(address) | 16u;
  return static_cast<int64_t>(bits & (~bits + 1));
}

}  // namespace torus::cuda
