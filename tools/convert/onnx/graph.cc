#include "tools/convert/onnx/graph.h"

#include <fmt/ranges.h>

#include "runtime/error.h"

namespace torus::onnx {
namespace {

TensorProto::DataType TypeOf(DType dtype) {
  TORUS_CHECK(dtype == DType::kF32 || dtype == DType::kI64, "there is no need for {}", Name(dtype));
  return dtype == DType::kF32 ? TensorProto::FLOAT : TensorProto::INT64;
}

void Fill(const std::string& name, const Tensor& given, TensorProto& proto) {
  const Tensor value = given.To(Device{}).Contiguous();
  proto.set_name(name);
  proto.set_data_type(TypeOf(value.dtype()));
  for (int i = 0; i < value.rank(); ++i) proto.add_dims(value.dim(i));
  proto.set_raw_data(value.raw(), value.bytes());
}

void Fill(const std::string& name, TensorProto::DataType type, const std::vector<Size>& sizes,
          ValueInfoProto& proto) {
  proto.set_name(name);
  TypeProto::Tensor& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  for (const Size& size : sizes) {
    TensorShapeProto::Dimension& dim = *tensor.mutable_shape()->add_dim();
    if (const auto* number = std::get_if<int64_t>(&size))
      dim.set_dim_value(*number);
    else
      dim.set_dim_param(std::get<std::string>(size));
  }
}

void Fill(const Attribute& attribute, AttributeProto& proto) {
  proto.set_name(attribute.name);
  if (const auto* whole = std::get_if<int64_t>(&attribute.value)) {
    proto.set_type(AttributeProto::INT);
    proto.set_i(*whole);
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(*real);
  } else {
    proto.set_type(AttributeProto::INTS);
    for (const int64_t each : std::get<std::vector<int64_t>>(attribute.value)) proto.add_ints(each);
  }
}

}  // namespace

Graph::Graph(const std::string& name, const std::vector<NamedTensor>& state)
    : graph_(*model_.mutable_graph()) {
  for (const NamedTensor& tensor : state) state_[tensor.name] = tensor.value;
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("torus");
  OperatorSetIdProto& set = *model_.add_opset_import();
  set.set_domain("");  // ONNX's own operators
  set.set_version(kOpset);
  graph_.set_name(name);
}

std::string Graph::Input(const std::string& name, TensorProto::DataType type,
                         const std::vector<Size>& sizes, const std::string& meaning) {
  ValueInfoProto& input = *graph_.add_input();
  Fill(name, type, sizes, input);
  input.set_doc_string(meaning);
  return name;
}

void Graph::Output(const std::string& value, const std::string& name,
                   const std::vector<Size>& sizes) {
  NodeProto& last = *graph_.mutable_node(graph_.node_size() - 1);
  TORUS_CHECK(last.output_size() == 1 && last.output(0) == value, "{} is not the last", value);
  last.set_output(0, name);
  Fill(name, TensorProto::FLOAT, sizes, *graph_.add_output());
}

std::string Graph::Node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<Attribute>& attributes) {
  return Nodes(op, inputs, 1, attributes)[0];
}

std::vector<std::string> Graph::Nodes(const std::string& op, const std::vector<std::string>& inputs,
                                      int outputs, const std::vector<Attribute>& attributes) {
  NodeProto& node = *graph_.add_node();
  node.set_name(fmt::format("{}_{}", op, graph_.node_size()));
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  // ONNX lists no empty name behind the last input that is given.
  while (node.input_size() > 0 && node.input(node.input_size() - 1).empty())
    node.mutable_input()->RemoveLast();
  for (const Attribute& attribute : attributes) Fill(attribute, *node.add_attribute());
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) {
    names.push_back(outputs == 1 ? node.name() : fmt::format("{}_{}", node.name(), i));
    node.add_output(names.back());
  }
  return names;
}

Shape Graph::ShapeOf(const std::string& name) const {
  TORUS_CHECK(Has(name), "there is no {}", name);
  return state_.at(name).shape();
}

std::string Graph::Weight(const std::string& name) {
  TORUS_CHECK(Has(name), "there is no {}", name);
  return Constant(name, state_.at(name));
}

std::string Graph::Number(double value) {
  return Constant(fmt::format("number_{}", value), Full({}, value));
}

std::string Graph::Whole(int64_t value) {
  return Constant(fmt::format("whole_{}", value), FromVector<int64_t>({value}, {}));
}

std::string Graph::Wholes(const std::vector<int64_t>& values) {
  return Constant(fmt::format("wholes_{}", fmt::join(values, "_")),
                  FromVector(values, {static_cast<int64_t>(values.size())}));
}

std::string Graph::Constant(const std::string& name, const Tensor& value) {
  if (used_.insert(name).second) Fill(name, value, *graph_.add_initializer());
  return name;
}

ModelProto Graph::Take() {
  for (const auto& [name, value] : state_)
    TORUS_CHECK(used_.contains(name) || name.ends_with("num_batches_tracked"), "{} is not used",
                name);
  return std::move(model_);
}

}  // namespace torus::onnx
