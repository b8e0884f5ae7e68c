#include "tools/ledger/library_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/error.h"
#include "tools/ledger/machine.h"

namespace torus::ledger {
namespace {

using cuda::Graph;
using cuda::GraphNode;
using cuda::GraphOp;
using cuda::GraphPlace;
using cuda::GraphTensor;
using cuda::SeenMatrix;
using cuda::SeenProduct;

constexpr int64_t kLongSum = 8192;
constexpr int64_t kVectorBytes = 16;

double Real(int64_t value) { return static_cast<double>(value); }

TensorBytes TensorOf(const void* address, double bytes) {
  const auto block = emulated_gpu::BlockOf(address);
  TORUS_CHECK(block.has_value(), "a library is given {}, which is in no tensor", address);
  return {block->begin, Real(static_cast<int64_t>(block->bytes)), bytes, bytes};
}

// How a matrix of results is cut into tiles, each computed by one multiprocessor at a time.
struct Tiling {
  double tiles = 0;
  double places = 0;  // of results in a tile
  double waves() const { return std::ceil(tiles / kMultiprocessors); }
};

Tiling Cut(int64_t rows, int64_t columns, int64_t matrices, int64_t tile_rows,
           int64_t tile_columns) {
  const double tiles =
      std::ceil(Real(rows) / Real(tile_rows)) * std::ceil(Real(columns) / Real(tile_columns));
  return {tiles * Real(matrices), Real(tile_rows * tile_columns)};
}

// The libraries have kernels of many tiles and take one that leaves few multiprocessors idle.
Tiling BestCut(int64_t rows, int64_t columns, int64_t matrices) {
  constexpr std::array<int64_t, 6> kSizes{64, 96, 128, 160, 192, 256};
  constexpr int64_t kLargest = 128 * 256;  // as many results as registers hold
  Tiling best;
  for (const int64_t tile_rows : kSizes)
    for (const int64_t tile_columns : kSizes) {
      if (tile_rows * tile_columns > kLargest) continue;
      const Tiling cut = Cut(rows, columns, matrices, tile_rows, tile_columns);
      if (best.tiles == 0 || cut.waves() * cut.places < best.waves() * best.places) best = cut;
    }
  return best;
}

// Each result is a sum of `terms` products.
void SetTiles(const Tiling& tiling, double terms, Work& work) {
  work.tiles = tiling.tiles;
  work.tile_flops = 2 * tiling.places * terms;
}

// Each sum is computed in parts, by all multiprocessors.
void Split(Work& work) {
  work.tile_flops *= work.tiles / kMultiprocessors;
  work.tiles = kMultiprocessors;
}

Unit UnitOf(DType dtype, bool tf32) {
  if (IsLow(dtype)) return Unit::kLow;
  if (dtype == DType::kF64) return Unit::kF64;
  return tf32 ? Unit::kTf32 : Unit::kF32;
}

void Finish(Work& work) {
  work.library = true;
  work.moved = work.sectors();
  work.requested = work.moved;
}

// A pass of the library's own over some operand.
Work Pass(const std::string& kernel, std::vector<TensorBytes> read,
          std::vector<TensorBytes> written) {
  Work work{
      .op = "library", .kernel = kernel, .read = std::move(read), .written = std::move(written)};
  Finish(work);
  return work;
}

// --- products

bool Aligned(const SeenMatrix& matrix, size_t size) {
  const auto bytes = static_cast<int64_t>(size);
  return reinterpret_cast<uintptr_t>(matrix.data) % kVectorBytes == 0 &&
         matrix.stride * bytes % kVectorBytes == 0 &&
         matrix.batch_stride * bytes % kVectorBytes == 0;
}

double MatrixBytes(const SeenMatrix& matrix, int64_t rows, int64_t columns, int64_t batch,
                   DType dtype) {
  const int64_t matrices = matrix.batch_stride == 0 ? 1 : batch;
  return Real(rows) * Real(columns) * Real(matrices) * Real(static_cast<int64_t>(SizeOf(dtype)));
}

// Whether the parts of long sums are computed apart, because there are few tiles even so.
bool IsSplit(const SeenProduct& p) {
  return Cut(p.m, p.n, p.batch, 128, 256).tiles < kMultiprocessors / 2 && p.k >= kLongSum;
}

std::string NameOf(const SeenProduct& p) {
  std::string name = fmt::format("gemm {} {}{} {}x{}x{}", Name(p.in), p.a.transposed ? 't' : 'n',
                                 p.b.transposed ? 't' : 'n', p.m, p.n, p.k);
  if (p.batch > 1) name += fmt::format(" of {}", p.batch);
  if (p.out != p.in) name += fmt::format(" to {}", Name(p.out));
  if (p.bias != nullptr) name += " bias";
  if (p.epilogue == cuda::EpilogueKind::kGelu) name += " gelu";
  if (p.epilogue == cuda::EpilogueKind::kGeluGradient) name += " dgelu";
  return name;
}

bool IsUnaligned(const SeenProduct& p) {
  return !Aligned(p.a, SizeOf(p.in)) || !Aligned(p.b, SizeOf(p.in)) || !Aligned(p.c, SizeOf(p.out));
}

Work ProductWork(const SeenProduct& p) {
  Work work{.op = "gemm", .kernel = NameOf(p)};
  const double c = MatrixBytes(p.c, p.m, p.n, p.batch, p.out);
  work.read = {TensorOf(p.a.data, MatrixBytes(p.a, p.m, p.k, p.batch, p.in)),
               TensorOf(p.b.data, MatrixBytes(p.b, p.k, p.n, p.batch, p.in))};
  work.written = {TensorOf(p.c.data, c)};
  if (p.added != nullptr) work.read.push_back(TensorOf(p.added, c));
  if (p.epilogue_in != nullptr) work.read.push_back(TensorOf(p.epilogue_in, c));
  if (p.epilogue == cuda::EpilogueKind::kGelu && p.epilogue_out != nullptr)
    work.written.push_back(TensorOf(p.epilogue_out, c));
  work.flops = 2 * Real(p.m) * Real(p.n) * Real(p.k) * Real(p.batch);
  work.unit = UnitOf(p.in, p.tf32);
  SetTiles(BestCut(p.m, p.n, p.batch), Real(p.k), work);
  work.unaligned = IsUnaligned(p);
  if (work.unaligned) work.kernel += " unaligned";
  Finish(work);
  return work;
}

// --- graphs

double BytesOf(const GraphTensor& tensor) {
  double bytes = Real(static_cast<int64_t>(SizeOf(tensor.dtype)));
  for (const int64_t dim : tensor.dims) bytes *= Real(dim);
  return bytes;
}

// What is in memory, as read and as written.
Work OperandsOf(const Graph& graph, cuda::GraphAddresses addresses) {
  Work work;
  std::vector<bool> written(graph.tensors.size());
  for (const GraphNode& node : graph.nodes) written[static_cast<size_t>(node.output)] = true;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[i];
    if (tensor.place != GraphPlace::kMemory) continue;
    (written[i] ? work.written : work.read).push_back(TensorOf(addresses[i], BytesOf(tensor)));
  }
  return work;
}

bool IsConvolution(GraphOp op) {
  return op == GraphOp::kConvForward || op == GraphOp::kConvBackwardInput ||
         op == GraphOp::kConvBackwardWeight;
}

std::string Sized(const GraphTensor& t) { return fmt::format("{}", fmt::join(t.dims, "x")); }

// x, weight and y of a convolution, in whatever direction.
struct ConvTensors {
  const GraphTensor *x, *weight, *y;
};

ConvTensors TensorsOf(const Graph& graph, const GraphNode& node) {
  const auto at = [&](int64_t i) { return &graph.tensors[static_cast<size_t>(i)]; };
  const GraphTensor *a = at(node.inputs[0]), *b = at(node.inputs[1]), *out = at(node.output);
  if (node.op == GraphOp::kConvForward) return {a, b, out};
  if (node.op == GraphOp::kConvBackwardInput) return {out, b, a};
  return {a, out, b};
}

const char* Direction(GraphOp op) {
  return op == GraphOp::kConvForward         ? "conv forward"
         : op == GraphOp::kConvBackwardInput ? "conv input gradient"
                                             : "conv weight gradient";
}

int64_t Pixels(const GraphTensor& image) { return image.dims[0] * image.dims[2] * image.dims[3]; }

bool IsPadded(const ConvTensors& t) { return t.x->dims[1] % 8 != 0 && IsLow(t.x->dtype); }

// A gradient of weights has tiles of 128 x 128 and does not split its sum over all pixels: where
// there are few weights, few multiprocessors work, and for long. Kernels for padded images do.
void SetConvTiles(GraphOp op, const ConvTensors& t, Work& work) {
  const int64_t o = t.weight->dims[0], c = t.weight->dims[1];
  const int64_t window = t.weight->dims[2] * t.weight->dims[3];
  if (op == GraphOp::kConvForward)
    return SetTiles(BestCut(Pixels(*t.y), o, 1), Real(c * window), work);
  if (op == GraphOp::kConvBackwardInput)
    return SetTiles(BestCut(Pixels(*t.x), c, 1), Real(o * window), work);
  SetTiles(Cut(o, c * window, 1, 128, 128), Real(Pixels(*t.y)), work);
  if (IsPadded(t)) Split(work);
}

// cuDNN copies images whose channels are no multiple of 8 into ones with more.
void AddPadding(const Graph& graph, const GraphNode& node, Work& first, std::vector<Work>& all) {
  const ConvTensors t = TensorsOf(graph, node);
  if (node.op == GraphOp::kConvBackwardInput || !IsPadded(t)) return;
  TensorBytes padded = first.read[0];
  padded.bytes *= std::ceil(Real(t.x->dims[1]) / 8) * 8 / Real(t.x->dims[1]);
  padded.moved = padded.bytes;
  all.push_back(Pass("padding of channels", {first.read[0]}, {padded}));
  first.read[0] = padded;
}

std::vector<Work> Convolution(const Graph& graph, const cuda::EngineRules& rules,
                              const GraphNode& node, cuda::GraphAddresses addresses) {
  const ConvTensors t = TensorsOf(graph, node);
  Work work = OperandsOf(graph, addresses);
  work.op = "conv2d";
  work.kernel = fmt::format("{} {} {} * {}", Direction(node.op), Name(t.x->dtype), Sized(*t.x),
                            Sized(*t.weight));
  double terms = 1;
  for (const int64_t dim : t.weight->dims) terms *= Real(dim);
  work.flops = 2 * Real(Pixels(*t.y)) * terms;
  work.unit = UnitOf(t.x->dtype, rules.tensor_cores);
  SetConvTiles(node.op, t, work);
  std::vector<Work> all;
  AddPadding(graph, node, work, all);
  Finish(work);
  all.push_back(std::move(work));
  return all;
}

// The products of the scores' shape that a graph of attention has.
std::optional<std::vector<Work>> Attention(const Graph& graph, const cuda::EngineRules& rules,
                                           cuda::GraphAddresses addresses) {
  const GraphTensor &query = graph.tensors[0], &turned_key = graph.tensors[1];
  const auto count = [&](GraphOp op) {
    return std::ranges::count(graph.nodes, op, &GraphNode::op);
  };
  const bool backward = count(GraphOp::kMatmul) > 2, causal = count(GraphOp::kSelect) > 0;
  double scores = causal ? 0.5 : 1;
  for (const int64_t size : {query.dims[0], query.dims[1], query.dims[2], turned_key.dims[3]})
    scores *= Real(size);
  const double kept = backward ? 2 * scores * (causal ? 2 : 1) : 0;  // of gradients, in 16 bits
  if (kept > Real(rules.most_workspace)) return std::nullopt;
  Work work = OperandsOf(graph, addresses);
  work.op = "scaled_dot_product_attention";
  work.kernel = fmt::format("attention {}{} {}", backward ? "gradient " : "", Name(query.dtype),
                            Sized(query));
  work.flops = 2 * scores * Real(query.dims[3]) * static_cast<double>(count(GraphOp::kMatmul));
  work.unit = backward ? Unit::kAttentionBackward : Unit::kAttention;
  work.launches = backward ? 3 : 1;  // the rows' sums, the gradient, the queries' part of it
  work.tiles = kMultiprocessors;
  work.tile_flops = work.flops / kMultiprocessors;
  Finish(work);
  return std::vector{std::move(work)};
}

}  // namespace

std::vector<Work> WorkOf(const SeenProduct& p) {
  std::vector<Work> all{ProductWork(p)};
  if (p.epilogue == cuda::EpilogueKind::kSumsOfA)
    all.push_back(Pass("sums of an operand", {all[0].read[0]}, {}));
  if (p.epilogue == cuda::EpilogueKind::kSumsOfB)
    all.push_back(Pass("sums of an operand", {all[0].read[1]}, {}));
  if (IsSplit(p)) {
    Split(all[0]);
    all.push_back(Pass("sum of parts", {all[0].written[0]}, {all[0].written[0]}));
  }
  return all;
}

std::optional<std::vector<Work>> WorkOf(const Graph& graph, const cuda::EngineRules& rules,
                                        cuda::GraphAddresses addresses) {
  for (const GraphNode& node : graph.nodes)
    if (IsConvolution(node.op)) return Convolution(graph, rules, node, addresses);
  return Attention(graph, rules, addresses);
}

}  // namespace torus::ledger
