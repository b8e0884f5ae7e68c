#include "ops/cuda/cudnn/lower_graph.h"
#include "runtime/error.h"

namespace torus::cuda {
namespace {

cudnnDataType_t DataType(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return CUDNN_DATA_DOUBLE;
    case DType::kF32:
      return CUDNN_DATA_FLOAT;
    case DType::kBF16:
      return CUDNN_DATA_BFLOAT16;
    case DType::kF16:
      return CUDNN_DATA_HALF;
    case DType::kI32:
      return CUDNN_DATA_INT32;
    case DType::kBool:
      return CUDNN_DATA_BOOLEAN;
    default:
      TORUS_CHECK(false, "graphs have no {}", Name(dtype));
  }
  return CUDNN_DATA_FLOAT;
}

Descriptor TensorOf(const GraphTensor& tensor, int64_t id) {
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, DataType(tensor.dtype));
  d.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, tensor.alignment);
  d.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(tensor.dims));
  d.Set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const int64_t>(tensor.strides));
  d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, tensor.place == GraphPlace::kVirtual);
  d.Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, tensor.place == GraphPlace::kByValue);
  d.Finalize();
  return d;
}

Descriptor ConvolutionOf(const ConvWindow& window) {
  Descriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  using Pair = std::span<const int64_t>;
  d.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{2});
  d.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  d.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  d.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Pair(window.before));
  d.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, Pair(window.after));
  d.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, Pair(window.dilation));
  d.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Pair(window.stride));
  d.Finalize();
  return d;
}

struct Pointwise {
  cudnnPointwiseMode_t mode;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
};

Pointwise PointwiseMode(GraphOp op) {
  switch (op) {
    case GraphOp::kAdd:
      return {CUDNN_POINTWISE_ADD};
    case GraphOp::kSubtract:
      return {CUDNN_POINTWISE_SUB};
    case GraphOp::kMultiply:
      return {CUDNN_POINTWISE_MUL};
    case GraphOp::kDivide:
      return {CUDNN_POINTWISE_DIV};
    case GraphOp::kExp:
      return {CUDNN_POINTWISE_EXP};
    case GraphOp::kLog:
      return {CUDNN_POINTWISE_LOG};
    case GraphOp::kIndex:
      return {CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32};
    case GraphOp::kNotLess:
      return {CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN};
    case GraphOp::kSelect:
      return {CUDNN_POINTWISE_BINARY_SELECT};
    default:
      TORUS_CHECK(false, "operation {} is not point-wise", static_cast<int>(op));
  }
  return {};
}

Descriptor PointwiseOf(const GraphNode& node) {
  const Pointwise pointwise = PointwiseMode(node.op);
  Descriptor d(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  d.Set(CUDNN_ATTR_POINTWISE_MODE, pointwise.mode);
  d.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, pointwise.compute);
  if (node.op == GraphOp::kIndex) d.Set(CUDNN_ATTR_POINTWISE_AXIS, node.axis);
  d.Finalize();
  return d;
}

Descriptor MatmulOf() {
  Descriptor d(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  d.Set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  d.Finalize();
  return d;
}

Descriptor ReductionOf(cudnnReduceTensorOp_t how) {
  Descriptor d(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  d.Set(CUDNN_ATTR_REDUCTION_OPERATOR, how);
  d.Set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  d.Finalize();
  return d;
}

// The cuDNN descriptor type of an operation, and the attributes of its parameters, inputs and
// output.
struct Form {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t parameters;
  std::vector<cudnnBackendAttributeName_t> inputs;
  cudnnBackendAttributeName_t output;
  bool scaled = false;  // output = 1 result + 0 output; must be set explicitly
  cudnnBackendAttributeName_t alpha{}, beta{};
};

Form FormOf(GraphOp op) {
  switch (op) {
    case GraphOp::kConvForward:
      return {
          CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          true,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case GraphOp::kConvBackwardInput:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W},
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              true,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case GraphOp::kConvBackwardWeight:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              true,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    case GraphOp::kMatmul:
      return {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_MATMUL_DESC,
              {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
              CUDNN_ATTR_OPERATION_MATMUL_CDESC};
    case GraphOp::kReduceMax:
    case GraphOp::kReduceAdd:
      return {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_REDUCTION_DESC,
              {CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
              CUDNN_ATTR_OPERATION_REDUCTION_YDESC};
    default:
      return {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
              {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
               CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
              CUDNN_ATTR_OPERATION_POINTWISE_YDESC};
  }
}

Descriptor ParametersOf(const GraphNode& node) {
  switch (node.op) {
    case GraphOp::kConvForward:
    case GraphOp::kConvBackwardInput:
    case GraphOp::kConvBackwardWeight:
      return ConvolutionOf(node.window);
    case GraphOp::kMatmul:
      return MatmulOf();
    case GraphOp::kReduceMax:
      return ReductionOf(CUDNN_REDUCE_TENSOR_MAX);
    case GraphOp::kReduceAdd:
      return ReductionOf(CUDNN_REDUCE_TENSOR_ADD);
    default:
      return PointwiseOf(node);
  }
}

const Descriptor& At(const std::vector<Descriptor>& tensors, int64_t place) {
  return tensors[static_cast<size_t>(place)];
}

// For cuDNN a transpose is a reshape, defined by the strides of the two tensors. It has no
// parameters.
Descriptor TransposeOf(const GraphNode& node, const std::vector<Descriptor>& tensors) {
  Descriptor d(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  d.Set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, At(tensors, node.inputs[0]));
  d.Set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, At(tensors, node.output));
  d.Finalize();
  return d;
}

Descriptor OperationOf(const GraphNode& node, const Descriptor& parameters,
                       const std::vector<Descriptor>& tensors) {
  const Form form = FormOf(node.op);
  Descriptor d(form.type);
  d.Set(form.parameters, parameters);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    d.Set(form.inputs[i], At(tensors, node.inputs[i]));
  d.Set(form.output, At(tensors, node.output));
  if (form.scaled) {
    d.Set(form.alpha, 1.0f);
    d.Set(form.beta, 0.0f);
  }
  d.Finalize();
  return d;
}

}  // namespace

LoweredGraph::LoweredGraph(const Graph& graph) : graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    tensors_.push_back(TensorOf(graph.tensors[i], UniqueId(i)));
  for (const GraphNode& node : graph.nodes) {
    if (node.op == GraphOp::kTranspose) {
      operations_.push_back(TransposeOf(node, tensors_));
      continue;
    }
    parameters_.push_back(ParametersOf(node));
    operations_.push_back(OperationOf(node, parameters_.back(), tensors_));
  }
  std::vector<cudnnBackendDescriptor_t> operations;
  for (const Descriptor& operation : operations_) operations.push_back(operation.get());
  graph_.SetDescriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph_.Finalize();
}

}  // namespace torus::cuda
