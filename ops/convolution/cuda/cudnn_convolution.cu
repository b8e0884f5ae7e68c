#include <initializer_list>
#include <vector>

#include "ops/convolution/cuda/cudnn_convolution.h"
#include "ops/convolution/cuda/low_convolution.h"
#include "ops/cuda/cudnn/conv_graphs.h"
#include "ops/cuda/cudnn/run_graph.h"
#include "ops/cuda/cudnn/tensor_rules.h"
#include "runtime/kernels.h"

namespace torus::cuda {
namespace {

bool IsOurs(const ConvGeometry& g, const Tensor& operand) {
  return g.empty() || g.depthwise() || operand.dtype() == DType::kF64;
}

// The graph's tensors in order, the output last, followed by virtual ones.
bool Run(const Graph& graph, std::initializer_list<const Tensor*> inputs, Tensor& output,
         StreamHandle stream) {
  std::vector<const void*> addresses;
  for (const Tensor* input : inputs) addresses.push_back(input->raw());
  addresses.push_back(output.mutable_raw());
  addresses.resize(graph.tensors.size(), nullptr);
  const DType operands = (*inputs.begin())->dtype();
  return RunGraph(graph, RulesFor(operands), addresses, output.device(), stream);
}

bool WriteWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                 StreamHandle stream) {
  return Run(ConvBackwardWeightGraph(g, OperandOf(x), OperandOf(dy), OperandOf(dw)), {&x, &dy}, dw,
             stream);
}

}  // namespace

bool CudnnForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  Tensor& y, StreamHandle stream) {
  if (IsOurs(g, x)) return false;
  const ConvOperand image = OperandOf(x), filter = OperandOf(weight), out = OperandOf(y);
  if (bias.defined() &&
      Run(ConvBiasGraph(g, image, filter, OperandOf(bias), out), {&x, &weight, &bias}, y, stream))
    return true;
  if (!Run(ConvForwardGraph(g, image, filter, out), {&x, &weight}, y, stream)) return false;
  if (bias.defined()) AddBias(bias, y, stream);
  return true;
}

bool CudnnBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                        StreamHandle stream) {
  if (IsOurs(g, dy)) return false;
  return Run(ConvBackwardInputGraph(g, OperandOf(dy), OperandOf(weight), OperandOf(dx)),
             {&dy, &weight}, dx, stream);
}

bool CudnnBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                         StreamHandle stream) {
  if (IsOurs(g, x)) return false;
  if (WriteWeight(g, x, dy, dw, stream)) return true;
  if (dw.dtype() == x.dtype()) return false;
  Tensor low(dw.shape(), x.dtype(), dw.device());
  if (!WriteWeight(g, x, dy, low, stream)) return false;
  Copy(low, dw);
  return true;
}

}  // namespace torus::cuda
