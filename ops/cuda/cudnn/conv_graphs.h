// Convolution and its gradients as graphs. Images are NHWC in memory; cuDNN's dimensions are (n, c,
// h, w), and (o, c / groups, kh, kw) for weights. The number of groups follows from the sizes.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "ops/cuda/cudnn/graph.h"

namespace torus::cuda {

// An operand: its type, and the alignment of its address in bytes.
struct ConvOperand {
  DType dtype;
  int64_t alignment = 16;
};

// Tensors 0, 1, 2: x, weight, y. y = the convolution, summed in f32 and rounded once.
Graph ConvForwardGraph(const ops::ConvGeometry& g, const ConvOperand& x, const ConvOperand& weight,
                       const ConvOperand& y);

// Tensors 0 to 3: x, weight, bias (o), y. The bias is added before the rounding.
Graph ConvBiasGraph(const ops::ConvGeometry& g, const ConvOperand& x, const ConvOperand& weight,
                    const ConvOperand& bias, const ConvOperand& y);

// Tensors 0, 1, 2: dy, weight, dx.
Graph ConvBackwardInputGraph(const ops::ConvGeometry& g, const ConvOperand& dy,
                             const ConvOperand& weight, const ConvOperand& dx);

// Tensors 0, 1, 2: x, dy, dweight.
Graph ConvBackwardWeightGraph(const ops::ConvGeometry& g, const ConvOperand& x,
                              const ConvOperand& dy, const ConvOperand& dweight);

}  // namespace torus::cuda
