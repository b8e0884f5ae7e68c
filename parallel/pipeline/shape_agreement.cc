#include "parallel/pipeline/shape_agreement.h"

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Above all numbers of TensorLink's headers.
Tag SpecTag(int cut) { return {TagClass::kControl, (1 << 23) + cut}; }

std::string What(int cut) { return fmt::format("shapes between stages {} and {}", cut - 1, cut); }

}  // namespace

void SendSpecs(Transport& transport, int peer, int cut, const std::vector<TensorSpec>& specs) {
  uint64_t count = specs.size();
  std::vector<TensorHeader> headers;
  for (const TensorSpec& spec : specs) {
    TensorHeader& header = headers.emplace_back();
    header.dtype = static_cast<uint8_t>(spec.dtype);
    header.rank = static_cast<uint8_t>(spec.shape.rank());
    std::copy(spec.shape.begin(), spec.shape.end(), header.dims);
  }
  Pending sent = transport.Send(peer, SpecTag(cut), {&count, sizeof count}, What(cut));
  sent.Wait();
  sent =
      transport.Send(peer, SpecTag(cut), {headers.data(), count * sizeof(TensorHeader)}, What(cut));
  sent.Wait();
}

std::vector<TensorSpec> RecvSpecs(Transport& transport, int peer, int cut) {
  uint64_t count = 0;
  transport.Recv(peer, SpecTag(cut), {&count, sizeof count}, What(cut)).Wait();
  std::vector<TensorHeader> headers(count);
  transport.Recv(peer, SpecTag(cut), {headers.data(), count * sizeof(TensorHeader)}, What(cut))
      .Wait();
  std::vector<TensorSpec> specs;
  for (const TensorHeader& header : headers) specs.push_back({ShapeOf(header), DTypeOf(header)});
  return specs;
}

std::vector<TensorSpec> SpecsOf(const std::vector<Tensor>& tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : tensors) specs.push_back({tensor.shape(), tensor.dtype()});
  return specs;
}

std::vector<Tensor> ZerosOf(const std::vector<TensorSpec>& specs) {
  std::vector<Tensor> tensors;
  for (const TensorSpec& spec : specs) tensors.push_back(Zeros(spec.shape, spec.dtype));
  return tensors;
}

}  // namespace torus::parallel
