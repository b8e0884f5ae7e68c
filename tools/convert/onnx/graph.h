// Graph: builds the graph of an ONNX model.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "runtime/tensor.h"
#include "tools/convert/onnx/messages.pb.h"

namespace torus::onnx {

// The set of operators that graphs are written in, the first with LayerNormalization, and the
// version of the file format that came with it (ONNX 1.12).
inline constexpr int64_t kOpset = 17;
inline constexpr int64_t kIrVersion = 8;

// The size of a dimension: a number, or a name where it is free.
using Size = std::variant<int64_t, std::string>;

struct Attribute {
  std::string name;
  std::variant<int64_t, float, std::vector<int64_t>> value;
};

// Values are named: those of weights as in the model's state, those of nodes by operator and
// number, such as "Conv_3". Nodes come in the order in which they are added, so each value is made
// before it is used.
class Graph {
 public:
  // `state`: StateDict of the model that the graph computes; floating tensors in f32.
  Graph(const std::string& name, const std::vector<NamedTensor>& state);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Declares an input; returns its name.
  std::string Input(const std::string& name, TensorProto::DataType type,
                    const std::vector<Size>& sizes, const std::string& meaning);
  // Declares that `value`, the last node's output, is the graph's output `name`, of f32.
  void Output(const std::string& value, const std::string& name, const std::vector<Size>& sizes);

  // Adds a node of one output, or of `outputs`; returns their names. An empty input is an optional
  // one that is left out.
  std::string Node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {});
  std::vector<std::string> Nodes(const std::string& op, const std::vector<std::string>& inputs,
                                 int outputs, const std::vector<Attribute>& attributes = {});

  // Whether the state has such a tensor, and its shape, in the layout of files. Shape throws
  // InternalError if it has not.
  bool Has(const std::string& name) const { return state_.contains(name); }
  Shape ShapeOf(const std::string& name) const;
  // The name of a tensor of the state, which becomes a constant of the graph.
  std::string Weight(const std::string& name);
  // The same, or an empty name where the state has no such tensor.
  std::string WeightIfAny(const std::string& name) { return Has(name) ? Weight(name) : ""; }
  // Constants that are no weights: one number (f32 or i64), a list, a tensor.
  std::string Number(double value);
  std::string Whole(int64_t value);
  std::string Wholes(const std::vector<int64_t>& values);
  std::string Constant(const std::string& name, const Tensor& value);

  // The finished model. Throws InternalError if a parameter or statistic of the state was not used:
  // the graph would compute something else. The graph must not be used any more.
  ModelProto Take();

 private:
  std::map<std::string, Tensor> state_;
  std::set<std::string> used_;  // names of constants and weights that the graph has
  ModelProto model_;
  GraphProto& graph_;
};

}  // namespace torus::onnx
