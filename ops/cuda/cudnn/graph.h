// A small computation for cuDNN's graph API as plain data: tensors, and operations between them.
// Building one needs no GPU and no cuDNN, and tests evaluate it on a CPU; lower_graph.h passes it
// to cuDNN.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dtype.h"

namespace torus::cuda {

using Sizes = std::vector<int64_t>;

// Where a tensor of a graph is stored.
enum class GraphPlace : uint8_t {
  kMemory,   // in GPU memory, at an address that the caller passes
  kVirtual,  // not stored: passed from one operation to the next
  kByValue,  // one element in host memory, read when the graph is run
};

struct GraphTensor {
  DType dtype = DType::kF32;
  Sizes dims, strides;  // strides in elements; both of the same length
  GraphPlace place = GraphPlace::kMemory;
  int64_t alignment = 16;  // of its address, in bytes
};

enum class GraphOp : uint8_t {
  kConvForward,         // x, weight -> y
  kConvBackwardInput,   // dy, weight -> dx
  kConvBackwardWeight,  // x, dy -> dweight
  kMatmul,              // a (..., m, k), b (..., k, n) -> (..., m, n)
  kTranspose,           // a view with the last two dimensions swapped
  kReduceMax,           // over the dimensions that are 1 in the output
  kReduceAdd,           // likewise
  kAdd,                 // a, b -> a + b; b broadcasts from dimensions of 1, here and below
  kSubtract,            // a, b -> a - b
  kMultiply,            // a, b -> a b
  kDivide,              // a, b -> a / b
  kExp,                 // a -> e^a
  kLog,                 // a -> its natural logarithm
  kIndex,               // a -> each element's own index along `axis`, i32
  kNotLess,             // a, b -> a >= b, bool
  kSelect,              // a, b, t -> t ? a : b
};

// The padding and steps of a convolution; pairs are (height, width).
struct ConvWindow {
  std::array<int64_t, 2> before{}, after{};  // zero padding
  std::array<int64_t, 2> stride{1, 1}, dilation{1, 1};
};

struct GraphNode {
  GraphOp op;
  std::vector<int64_t> inputs;  // indices into Graph::tensors, in the order given at GraphOp
  int64_t output = 0;
  int64_t axis = 0;   // of kIndex
  ConvWindow window;  // of convolutions
};

// Operations compute in f32, except comparisons and indices. A node's inputs are outputs of earlier
// nodes, or of no node.
struct Graph {
  // These add a tensor and return its index in `tensors`.
  int64_t Add(GraphTensor tensor);
  int64_t AddVirtual(Sizes dims, DType dtype = DType::kF32);  // with contiguous strides
  int64_t AddScalar(int64_t rank);                            // by value, f32
  // These add a node and return its output: `output`, or a new virtual f32 tensor with the shape of
  // the first input.
  int64_t Apply(GraphOp op, std::vector<int64_t> inputs);
  int64_t Apply(GraphOp op, std::vector<int64_t> inputs, int64_t output);

  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
  std::string name{};  // for people: "convolution"
};

// The strides of a contiguous tensor of these sizes.
Sizes ContiguousStrides(const Sizes& dims);

// Encodes a whole graph but for its name as numbers, which are equal exactly if the graphs are.
Sizes NumbersOf(const Graph& graph);

// What a person calls it: its name, and type and sizes of its first two tensors.
std::string DescribeGraph(const Graph& graph);

// The largest power of two, up to 16, that divides the address. No cuDNN kernel benefits from more.
int64_t AlignmentOf(const void* address);

}  // namespace torus::cuda
