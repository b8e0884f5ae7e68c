// A small computation as cuDNN's graph API is told of it, in plain data: tensors, and operations
// between them. What builds one needs no GPU and no cuDNN, and the tests evaluate it on a CPU;
// lower_graph.h hands it to cuDNN.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/dtype.h"

namespace torus::cuda {

using Sizes = std::vector<int64_t>;

// Where a tensor of a graph lies.
enum class GraphPlace : uint8_t {
  kMemory,   // in the GPU's memory: the caller names its address
  kVirtual,  // nowhere: it is handed from one operation to the next
  kByValue,  // one element in the host's memory, read when the graph is run
};

struct GraphTensor {
  DType dtype = DType::kF32;
  Sizes dims, strides;  // in elements, of one length
  GraphPlace place = GraphPlace::kMemory;
  int64_t alignment = 16;  // that its address has, in bytes
};

enum class GraphOp : uint8_t {
  kConvForward,         // x, weight -> y
  kConvBackwardInput,   // dy, weight -> dx
  kConvBackwardWeight,  // x, dy -> dweight
  kMatmul,              // a (..., m, k), b (..., k, n) -> (..., m, n)
  kTranspose,           // the same elements, the last two dimensions swapped; a copy of nothing
  kReduceMax,           // over the dimensions that the output has as 1
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

// Of a convolution; pairs are (height, width).
struct ConvWindow {
  std::array<int64_t, 2> before{}, after{};  // zero padding
  std::array<int64_t, 2> stride{1, 1}, dilation{1, 1};
};

struct GraphNode {
  GraphOp op;
  std::vector<int64_t> inputs;  // places in Graph::tensors, in the order named above
  int64_t output = 0;
  int64_t axis = 0;   // of kIndex
  ConvWindow window;  // of convolutions
};

// Operations compute in f32, comparisons and indices apart. A node's inputs are results of nodes
// before it, or no node's.
struct Graph {
  // Their places in `tensors`.
  int64_t Add(GraphTensor tensor);
  int64_t AddVirtual(Sizes dims, DType dtype = DType::kF32);  // strides as if it lay in memory
  int64_t AddScalar(int64_t rank);                            // by value, f32
  // The node's output: `output`, or a new virtual f32 tensor of the shape of its first input.
  int64_t Apply(GraphOp op, std::vector<int64_t> inputs);
  int64_t Apply(GraphOp op, std::vector<int64_t> inputs, int64_t output);

  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
};

// Of a contiguous tensor of these sizes.
Sizes ContiguousStrides(const Sizes& dims);

// All of a graph in numbers: two are equal exactly where the graphs are.
Sizes NumbersOf(const Graph& graph);

// The largest power of two, up to 16, that divides the address: more helps no kernel of cuDNN's.
int64_t AlignmentOf(const void* address);

}  // namespace torus::cuda
