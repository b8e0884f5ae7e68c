#include "ops/cuda/cudnn/conv_graphs.h"

namespace torus::cuda {
namespace {

using ops::ConvGeometry;

// (n, c, h, w) over memory (n, h, w, c).
GraphTensor Image(int64_t n, int64_t c, int64_t h, int64_t w, const ConvOperand& operand) {
  return {.dtype = operand.dtype,
          .dims = {n, c, h, w},
          .strides = {h * w * c, 1, w * c, c},
          .alignment = operand.alignment};
}

GraphTensor InputOf(const ConvGeometry& g, const ConvOperand& operand) {
  return Image(g.n, g.c, g.h, g.w, operand);
}

GraphTensor OutputOf(const ConvGeometry& g, const ConvOperand& operand) {
  return Image(g.n, g.o, g.oh, g.ow, operand);
}

GraphTensor WeightOf(const ConvGeometry& g, const ConvOperand& operand) {
  return Image(g.o, g.c / g.groups, g.kh, g.kw, operand);
}

ConvWindow WindowOf(const ConvGeometry& g) {
  return {.before = {g.top, g.left},
          .after = {g.bottom, g.right},
          .stride = {g.stride_h, g.stride_w},
          .dilation = {g.dilation_h, g.dilation_w}};
}

void Convolve(const ConvGeometry& g, GraphOp op, int64_t a, int64_t b, int64_t output,
              Graph& graph) {
  graph.Apply(op, {a, b}, output);
  graph.nodes.back().window = WindowOf(g);
}

Graph OneConvolution(const ConvGeometry& g, GraphOp op, const GraphTensor& a, const GraphTensor& b,
                     const GraphTensor& output, const char* name) {
  Graph graph{.name = name};
  const int64_t left = graph.Add(a), right = graph.Add(b);
  Convolve(g, op, left, right, graph.Add(output), graph);
  return graph;
}

}  // namespace

Graph ConvForwardGraph(const ConvGeometry& g, const ConvOperand& x, const ConvOperand& weight,
                       const ConvOperand& y) {
  return OneConvolution(g, GraphOp::kConvForward, InputOf(g, x), WeightOf(g, weight),
                        OutputOf(g, y), "convolution");
}

Graph ConvBiasGraph(const ConvGeometry& g, const ConvOperand& x, const ConvOperand& weight,
                    const ConvOperand& bias, const ConvOperand& y) {
  Graph graph{.name = "convolution with bias"};
  const int64_t image = graph.Add(InputOf(g, x)), filter = graph.Add(WeightOf(g, weight));
  const int64_t offset = graph.Add(Image(1, g.o, 1, 1, bias)), out = graph.Add(OutputOf(g, y));
  GraphTensor products = OutputOf(g, {DType::kF32});
  products.place = GraphPlace::kVirtual;
  const int64_t sums = graph.Add(products);
  Convolve(g, GraphOp::kConvForward, image, filter, sums, graph);
  graph.Apply(GraphOp::kAdd, {sums, offset}, out);
  return graph;
}

Graph ConvBackwardInputGraph(const ConvGeometry& g, const ConvOperand& dy,
                             const ConvOperand& weight, const ConvOperand& dx) {
  return OneConvolution(g, GraphOp::kConvBackwardInput, OutputOf(g, dy), WeightOf(g, weight),
                        InputOf(g, dx), "input gradient of a convolution");
}

Graph ConvBackwardWeightGraph(const ConvGeometry& g, const ConvOperand& x, const ConvOperand& dy,
                              const ConvOperand& dweight) {
  return OneConvolution(g, GraphOp::kConvBackwardWeight, InputOf(g, x), OutputOf(g, dy),
                        WeightOf(g, dweight), "weight gradient of a convolution");
}

}  // namespace torus::cuda
