#include "ops/cuda/cudnn/attention_graphs.h"

#include <utility>

namespace torus::cuda {
namespace {

// Makes the tensors that both graphs have.
class Parts {
 public:
  Parts(const AttentionSizes& sizes, Graph& graph) : s(sizes), graph_(graph) {}

  GraphTensor Heads(int64_t heads, int64_t rows, int64_t width, const HeadsOperand& at) const {
    return {.dtype = s.dtype,
            .dims = {s.batch, heads, rows, width},
            .strides = at.strides,
            .alignment = at.alignment};
  }
  int64_t Query(const HeadsOperand& at) { return graph_.Add(Heads(s.heads, s.rows, s.width, at)); }
  int64_t Out(const HeadsOperand& at) {
    return graph_.Add(Heads(s.heads, s.rows, s.value_width, at));
  }
  int64_t Value(const HeadsOperand& at) {
    return graph_.Add(Heads(s.key_heads, s.keys, s.value_width, at));
  }
  // The same memory viewed as (batch, heads, width, keys), for the second factor of a product.
  int64_t Turned(int64_t width, const HeadsOperand& at) {
    GraphTensor tensor = Heads(s.key_heads, s.keys, width, at);
    std::swap(tensor.dims[2], tensor.dims[3]);
    std::swap(tensor.strides[2], tensor.strides[3]);
    return graph_.Add(std::move(tensor));
  }
  int64_t Key(const HeadsOperand& at) {
    return graph_.Add(Heads(s.key_heads, s.keys, s.width, at));
  }
  // f32, one number per row.
  int64_t RowNumbers() {
    const Sizes dims = Rows();
    return graph_.Add({DType::kF32, dims, ContiguousStrides(dims)});
  }
  Sizes Rows() const { return {s.batch, s.heads, s.rows, 1}; }

  // query key^T scale.
  int64_t Scores(int64_t query, int64_t turned_key, int64_t scale) {
    const int64_t products = graph_.AddVirtual({s.batch, s.heads, s.rows, s.keys});
    graph_.Apply(GraphOp::kMatmul, {query, turned_key}, products);
    return graph_.Apply(GraphOp::kMultiply, {products, scale});
  }

  // Replaces scores by `masked` where a row does not attend to a key.
  int64_t Causal(int64_t scores, int64_t masked) {
    const int64_t row = Index(scores, 2), key = Index(scores, 3);
    const int64_t sees = Like(scores, DType::kBool);
    graph_.Apply(GraphOp::kNotLess, {row, key}, sees);
    return graph_.Apply(GraphOp::kSelect, {scores, masked, sees});
  }

  // A virtual copy with the last two dimensions swapped, in the type of the operands.
  int64_t Transposed(int64_t tensor) {
    Sizes dims = At(tensor).dims, strides = At(tensor).strides;
    std::swap(dims[2], dims[3]);
    std::swap(strides[2], strides[3]);
    const int64_t out = graph_.Add({s.dtype, dims, strides, GraphPlace::kVirtual});
    return graph_.Apply(GraphOp::kTranspose, {tensor}, out);
  }

  // weights^T rows, summed over the heads of each group.
  void ByKeys(int64_t weights, int64_t rows, int64_t gradient) {
    const int64_t turned = Transposed(weights);
    if (s.heads == s.key_heads) {
      graph_.Apply(GraphOp::kMatmul, {turned, rows}, gradient);
      return;
    }
    const int64_t each =
        graph_.AddVirtual({s.batch, s.heads, s.keys, At(gradient).dims[3]}, s.dtype);
    graph_.Apply(GraphOp::kMatmul, {turned, rows}, each);
    graph_.Apply(GraphOp::kReduceAdd, {each}, gradient);
  }

  int64_t Like(int64_t tensor, DType dtype) { return graph_.AddVirtual(At(tensor).dims, dtype); }

  const AttentionSizes& s;

 private:
  const GraphTensor& At(int64_t place) const { return graph_.tensors[static_cast<size_t>(place)]; }

  int64_t Index(int64_t scores, int64_t axis) {
    const int64_t out = Like(scores, DType::kI32);
    graph_.Apply(GraphOp::kIndex, {scores}, out);
    graph_.nodes.back().axis = axis;
    return out;
  }

  Graph& graph_;
};

// The weights, in the type of the operands; writes each row's statistic.
int64_t Softmax(Parts& parts, int64_t scores, int64_t statistic, Graph& graph) {
  const int64_t largest = graph.AddVirtual(parts.Rows()), sum = graph.AddVirtual(parts.Rows());
  graph.Apply(GraphOp::kReduceMax, {scores}, largest);
  const int64_t less = graph.Apply(GraphOp::kSubtract, {scores, largest});
  const int64_t powers = graph.Apply(GraphOp::kExp, {less});
  graph.Apply(GraphOp::kReduceAdd, {powers}, sum);
  graph.Apply(GraphOp::kAdd, {largest, graph.Apply(GraphOp::kLog, {sum})}, statistic);
  const int64_t weights = parts.Like(scores, parts.s.dtype);
  return graph.Apply(GraphOp::kDivide, {powers, sum}, weights);
}

// For each row the dot product of the result and its gradient: sum_j weight_j d weight_j.
void Means(Parts& parts, int64_t dout, int64_t out, int64_t one, int64_t means, Graph& graph) {
  const int64_t products = graph.Apply(GraphOp::kMultiply, {dout, out});
  const int64_t sums = graph.AddVirtual(parts.Rows());
  graph.Apply(GraphOp::kReduceAdd, {products}, sums);
  graph.Apply(GraphOp::kMultiply, {sums, one}, means);
}

}  // namespace

Graph AttentionGraph(const AttentionSizes& sizes, const HeadsOperand& query,
                     const HeadsOperand& key, const HeadsOperand& value, const HeadsOperand& out) {
  Graph graph{.name = "attention"};
  Parts parts(sizes, graph);
  const int64_t q = parts.Query(query), k = parts.Turned(sizes.width, key);
  const int64_t v = parts.Value(value), result = parts.Out(out), statistic = parts.RowNumbers();
  const int64_t scale = graph.AddScalar(4), masked = sizes.causal ? graph.AddScalar(4) : 0;
  int64_t scores = parts.Scores(q, k, scale);
  if (sizes.causal) scores = parts.Causal(scores, masked);
  graph.Apply(GraphOp::kMatmul, {Softmax(parts, scores, statistic, graph), v}, result);
  return graph;
}

Graph AttentionGradientGraph(const AttentionSizes& sizes, const AttentionGradientOperands& o) {
  Graph graph{.name = "gradient of attention"};
  Parts parts(sizes, graph);
  const int64_t q = parts.Query(o.query), k = parts.Turned(sizes.width, o.key);
  const int64_t v = parts.Turned(sizes.value_width, o.value);
  const int64_t out = parts.Out(o.out), dout = parts.Out(o.dout);
  const int64_t statistic = parts.RowNumbers(), means = parts.RowNumbers();
  const int64_t dq = parts.Query(o.dquery), dk = parts.Key(o.dkey), dv = parts.Value(o.dvalue);
  const int64_t scale = graph.AddScalar(4), one = graph.AddScalar(4);
  const int64_t masked = sizes.causal ? graph.AddScalar(4) : 0;
  Means(parts, dout, out, one, means, graph);
  int64_t scores = graph.Apply(GraphOp::kSubtract, {parts.Scores(q, k, scale), statistic});
  if (sizes.causal) scores = parts.Causal(scores, masked);
  const int64_t weights = graph.Apply(GraphOp::kExp, {scores});
  parts.ByKeys(weights, dout, dv);
  const int64_t dweights = graph.AddVirtual({sizes.batch, sizes.heads, sizes.rows, sizes.keys});
  graph.Apply(GraphOp::kMatmul, {dout, v}, dweights);
  const int64_t centred = graph.Apply(GraphOp::kSubtract, {dweights, means});
  const int64_t unscaled = graph.Apply(GraphOp::kMultiply, {centred, weights});
  const int64_t dscores = graph.Apply(GraphOp::kMultiply, {unscaled, scale});
  parts.ByKeys(dscores, q, dk);
  graph.Apply(GraphOp::kMatmul, {dscores, parts.Transposed(k)}, dq);
  return graph;
}

}  // namespace torus::cuda
