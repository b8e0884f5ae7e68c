#include "tests/tools/convert/onnx/run_graph.h"

#include <cstring>
#include <functional>
#include <map>

#include "autograd/node.h"
#include "ops/activation/activation.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/convolution.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/select.h"
#include "ops/indexing/indexing.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/matmul/matmul.h"
#include "ops/pad/pad.h"
#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "ops/reduction/cumsum.h"
#include "ops/softmax/softmax.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::onnx::testing {
namespace {

// A node with its inputs; one that is left out is undefined.
struct Call {
  const NodeProto& node;
  std::vector<Variable> in;

  const AttributeProto* Find(const std::string& name, AttributeProto::AttributeType type) const {
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.name() != name) continue;
      TORUS_CHECK(attribute.type() == type, "{} of {}", name, node.name());
      return &attribute;
    }
    return nullptr;
  }
  int64_t Whole(const std::string& name, int64_t otherwise) const {
    const AttributeProto* found = Find(name, AttributeProto::INT);
    return found == nullptr ? otherwise : found->i();
  }
  double Real(const std::string& name) const {
    const AttributeProto* found = Find(name, AttributeProto::FLOAT);
    TORUS_CHECK(found != nullptr, "{} has no {}", node.name(), name);
    return static_cast<double>(found->f());
  }
  std::vector<int64_t> List(const std::string& name) const {
    const AttributeProto* found = Find(name, AttributeProto::INTS);
    if (found == nullptr) return {};
    return {found->ints().begin(), found->ints().end()};
  }
  Variable Input(size_t i) const { return i < in.size() ? in[i] : Variable(); }
  std::vector<int64_t> Numbers(size_t i) const { return ToVector<int64_t>(Input(i).data()); }
};

Dims DimsOf(const std::vector<int64_t>& values) { return Dims(std::span(values)); }

Variable ToLast(const Variable& images) { return ops::Permute(images, {0, 2, 3, 1}); }
Variable ToFirst(const Variable& images) { return ops::Permute(images, {0, 3, 1, 2}); }

// The padding of each axis, which is as much on both sides.
Dims PaddingOf(const Call& call) {
  const std::vector<int64_t> pads = call.List("pads");
  if (pads.empty()) return {0, 0};
  TORUS_CHECK(pads.size() == 4 && pads[0] == pads[2] && pads[1] == pads[3], "{}", call.node.name());
  return {pads[0], pads[1]};
}

Variable Conv(const Call& call) {
  const Variable weight = ops::Permute(call.in[1], {0, 2, 3, 1});
  return ToFirst(ops::Conv2d(ToLast(call.in[0]), weight, call.Input(2),
                             {.stride = DimsOf(call.List("strides")),
                              .padding = PaddingOf(call),
                              .groups = call.Whole("group", 1)}));
}

Variable BatchNorm(const Call& call) {
  return ToFirst(ops::BatchNormEval(ToLast(call.in[0]), call.in[3].data(), call.in[4].data(),
                                    call.in[1], call.in[2], call.Real("epsilon")));
}

Variable MaxPool(const Call& call) {
  return ToFirst(
      ops::MaxPool2d(ToLast(call.in[0]), {.kernel_size = DimsOf(call.List("kernel_shape")),
                                          .stride = DimsOf(call.List("strides")),
                                          .padding = PaddingOf(call)}));
}

Variable AveragePool(const Call& call) {
  return ToFirst(ops::AvgPool2d(
      ToLast(call.in[0]),
      {.kernel_size = DimsOf(call.List("kernel_shape")), .stride = DimsOf(call.List("strides"))}));
}

Variable GlobalAveragePool(const Call& call) {
  return ToFirst(ops::AdaptiveAvgPool2d(ToLast(call.in[0]), {1, 1}));
}

Variable Gemm(const Call& call) {
  TORUS_CHECK(call.Whole("transB", 0) == 1);
  return ops::Add(ops::Matmul(call.in[0], ops::Transpose(call.in[1], 0, 1)), call.in[2]);
}

// Pads come for all axes in front, then for all behind; ours for the last axis first, in pairs.
Variable Pad(const Call& call) {
  const std::vector<int64_t> pads = call.Numbers(1);
  const size_t rank = pads.size() / 2;
  std::vector<int64_t> ours;
  for (size_t i = rank; i-- > 0;) ours.insert(ours.end(), {pads[i], pads[rank + i]});
  return ops::Pad(call.in[0], ours);
}

Variable LayerNorm(const Call& call) {
  TORUS_CHECK(call.Whole("axis", -1) == -1);
  return ops::LayerNorm(call.in[0], {call.in[0].dim(-1)}, call.in[1], call.Input(2),
                        call.Real("epsilon"));
}

Variable Gather(const Call& call) {
  const Variable &data = call.in[0], &ids = call.in[1];
  const auto axis = static_cast<int>(call.Whole("axis", 0));
  Shape shape;
  for (int i = 0; i < data.rank(); ++i) {
    if (i != axis) shape.push_back(data.dim(i));
    for (int j = 0; i == axis && j < ids.rank(); ++j) shape.push_back(ids.dim(j));
  }
  return ops::Reshape(ops::IndexSelect(data, axis, ops::Reshape(ids, {ids.numel()})), shape);
}

Variable Reshape(const Call& call) {
  std::vector<int64_t> sizes = call.Numbers(1);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == 0) sizes[i] = call.in[0].dim(static_cast<int>(i));
  return ops::Reshape(call.in[0], DimsOf(sizes));
}

Variable Slice(const Call& call) {
  const int64_t start = call.Numbers(1).at(0), end = call.Numbers(2).at(0);
  return ops::Narrow(call.in[0], call.Numbers(3).at(0), start, end - start);
}

Variable Unsqueeze(const Call& call) {
  Variable y = call.in[0];
  for (const int64_t axis : call.Numbers(1)) y = ops::Unsqueeze(y, axis);
  return y;
}

Variable ShapeOf(const Call& call) {
  const Shape& shape = call.in[0].shape();
  const auto end = static_cast<size_t>(call.Whole("end", shape.rank()));
  const std::vector<int64_t> sizes(shape.begin(), shape.begin() + end);
  return Variable(FromVector(sizes, {static_cast<int64_t>(end)}));
}

Variable Range(const Call& call) {
  TORUS_CHECK(call.Numbers(0).at(0) == 0 && call.Numbers(2).at(0) == 1);
  return Variable(Arange(call.Numbers(1).at(0)));
}

Variable Cast(const Call& call) {
  const int64_t to = call.Whole("to", 0);
  TORUS_CHECK(to == TensorProto::INT64 || to == TensorProto::BOOL);
  return ops::Cast(call.in[0], to == TensorProto::BOOL ? DType::kBool : DType::kI64);
}

// ONNX's also keeps a size where 1 is asked for.
Variable Expand(const Call& call) {
  const Shape wanted = DimsOf(call.Numbers(1));
  return ops::Expand(call.in[0], BroadcastShapes("expand", call.in[0].shape(), wanted));
}

Variable Cumsum(const Call& call) { return ops::Cumsum(call.in[0], call.Numbers(1).at(0)); }

using Operator = std::function<Variable(const Call&)>;

Operator One(Variable (*function)(const Variable&)) {
  return [=](const Call& call) { return function(call.in[0]); };
}

Operator Two(Variable (*function)(const Variable&, const Variable&)) {
  return [=](const Call& call) { return function(call.in[0], call.in[1]); };
}

Variable Plus(const Variable& a, const Variable& b) { return ops::Add(a, b); }
Variable Clip(const Call& call) { return ops::Clamp(call.in[0], call.in[1], call.in[2]); }
Variable Concat(const Call& call) { return ops::Cat(call.in, call.Whole("axis", 0)); }
Variable Flatten(const Call& call) { return ops::Flatten(call.in[0], 1); }
Variable Softmax(const Call& call) { return ops::Softmax(call.in[0], call.Whole("axis", -1)); }
Variable Transpose(const Call& call) { return ops::Permute(call.in[0], DimsOf(call.List("perm"))); }
Variable Where(const Call& call) { return ops::Where(call.in[0], call.in[1], call.in[2]); }

// Those of one output.
const std::map<std::string, Operator>& Operators() {
  static const std::map<std::string, Operator> kAll{
      {"Add", Two(Plus)},
      {"AveragePool", AveragePool},
      {"BatchNormalization", BatchNorm},
      {"Cast", Cast},
      {"Clip", Clip},
      {"Concat", Concat},
      {"Conv", Conv},
      {"CumSum", Cumsum},
      {"Equal", Two(ops::Eq)},
      {"Erf", One(ops::Erf)},
      {"Expand", Expand},
      {"Flatten", Flatten},
      {"Gather", Gather},
      {"Gemm", Gemm},
      {"GlobalAveragePool", GlobalAveragePool},
      {"GreaterOrEqual", Two(ops::Ge)},
      {"LayerNormalization", LayerNorm},
      {"MatMul", Two(ops::Matmul)},
      {"MaxPool", MaxPool},
      {"Mul", Two(ops::Mul)},
      {"Not", One(ops::LogicalNot)},
      {"Pad", Pad},
      {"Range", Range},
      {"Relu", One(ops::Relu)},
      {"Reshape", Reshape},
      {"Shape", ShapeOf},
      {"Sigmoid", One(ops::Sigmoid)},
      {"Slice", Slice},
      {"Softmax", Softmax},
      {"Tanh", One(ops::Tanh)},
      {"Transpose", Transpose},
      {"Unsqueeze", Unsqueeze},
      {"Where", Where},
  };
  return kAll;
}

std::vector<Variable> Outputs(const Call& call) {
  const std::string& op = call.node.op_type();
  if (op == "Split") {
    const int64_t axis = call.Whole("axis", 0);
    return ops::Chunk(call.in[0], call.node.output_size(), axis);
  }
  TORUS_CHECK(Operators().contains(op), "there is no {}", op);
  return {Operators().at(op)(call)};
}

Tensor Wide(const Tensor& tensor) {
  return IsFloating(tensor.dtype()) ? tensor.To(DType::kF64) : tensor;
}

Tensor TensorOf(const TensorProto& proto) {
  Tensor tensor(DimsOf({proto.dims().begin(), proto.dims().end()}),
                proto.data_type() == TensorProto::INT64 ? DType::kI64 : DType::kF32);
  TORUS_CHECK(tensor.bytes() == proto.raw_data().size(), "{}", proto.name());
  if (tensor.bytes() > 0)
    std::memcpy(tensor.mutable_raw(), proto.raw_data().data(), tensor.bytes());
  return Wide(tensor);
}

}  // namespace

Tensor RunGraph(const GraphProto& graph, const std::vector<Tensor>& inputs) {
  const NoGrad no_grad;
  std::map<std::string, Variable> values{{"", {}}};
  for (const TensorProto& proto : graph.initializer())
    values[proto.name()] = Variable(TensorOf(proto));
  for (int i = 0; i < graph.input_size(); ++i)
    values[graph.input(i).name()] = Variable(Wide(inputs.at(static_cast<size_t>(i))));
  for (const NodeProto& node : graph.node()) {
    Call call{.node = node, .in = {}};
    for (const std::string& name : node.input()) {
      TORUS_CHECK(values.contains(name), "{} is not made before {}", name, node.name());
      call.in.push_back(values[name]);
    }
    const std::vector<Variable> made = Outputs(call);
    for (int i = 0; i < node.output_size(); ++i) {
      TORUS_CHECK(!values.contains(node.output(i)), "{} is made twice", node.output(i));
      values[node.output(i)] = made.at(static_cast<size_t>(i));
    }
  }
  return values.at(graph.output(0).name()).data();
}

}  // namespace torus::onnx::testing
