#include "parallel/pipeline/shape_agreement.h"

#include <algorithm>
#include <numeric>

#include "autograd/node.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The headers of TensorLink are control messages too; their tags are numbered from 0 and stay below
// 2^23.
Tag SpecTag(int cut) { return {TagClass::kControl, (1 << 23) + cut}; }

std::vector<TensorHeader> HeadersOf(const std::vector<TensorSpec>& specs) {
  std::vector<TensorHeader> headers;
  for (const TensorSpec& spec : specs) {
    TensorHeader& header = headers.emplace_back();
    header.dtype = static_cast<uint8_t>(spec.dtype);
    header.rank = static_cast<uint8_t>(spec.shape.rank());
    std::copy(spec.shape.begin(), spec.shape.end(), header.dims);
    Seal(header);
  }
  return headers;
}

}  // namespace

SentSpecs::SentSpecs(Transport& transport, int peer, int cut, const std::string& what,
                     const std::vector<TensorSpec>& specs)
    : count_(specs.size()), headers_(HeadersOf(specs)) {
  count_sent_ = transport.Send(peer, SpecTag(cut), {&count_, sizeof count_}, what);
  headers_sent_ =
      transport.Send(peer, SpecTag(cut), {headers_.data(), count_ * sizeof(TensorHeader)}, what);
}

void SentSpecs::Wait() {
  count_sent_.Wait();
  headers_sent_.Wait();
}

std::vector<TensorSpec> RecvSpecs(Transport& transport, int peer, int cut,
                                  const std::string& what) {
  uint64_t count = 0;
  transport.Recv(peer, SpecTag(cut), {&count, sizeof count}, what).Wait();
  std::vector<TensorHeader> headers(count);
  transport.Recv(peer, SpecTag(cut), {headers.data(), count * sizeof(TensorHeader)}, what).Wait();
  std::vector<TensorSpec> specs;
  for (const TensorHeader& header : headers) {
    CheckIntact(header, what);
    specs.push_back({ShapeOf(header), DTypeOf(header)});
  }
  return specs;
}

std::vector<TensorSpec> OutputSpecs(const Stage& stage, const std::vector<TensorSpec>& inputs,
                                    StepContext context) {
  const NoGrad no_grad;
  const bool has_rows = !inputs.empty() && inputs[0].shape.rank() > 0;
  context.samples.resize(has_rows ? static_cast<size_t>(inputs[0].shape[0]) : 0);
  std::iota(context.samples.begin(), context.samples.end(), 0);
  std::vector<Variable> values;
  for (const TensorSpec& spec : inputs)
    values.emplace_back(Empty(spec.shape, spec.dtype, kMetaDevice));
  std::vector<TensorSpec> outputs;
  for (const Variable& output : stage.Forward(values, context)) {
    Require(output.defined(), "pipeline", "a stage gives an undefined output");
    outputs.push_back({output.shape(), output.dtype()});
  }
  if (context.training) stage.EndMiniBatch(false);
  return outputs;
}

}  // namespace torus::parallel
