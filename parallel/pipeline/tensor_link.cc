#include "parallel/pipeline/tensor_link.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/error.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

double SecondsSince(int64_t begin) { return static_cast<double>(trace::Now() - begin) * 1e-9; }

std::span<const float> Floats(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<size_t>(tensor.numel())};
}

Tensor Bytes(size_t count) { return Empty({static_cast<int64_t>(count)}, DType::kU8); }

}  // namespace

TensorLink::TensorLink(Options options, std::vector<TensorSpec> specs, int micro_batches)
    : options_(options), specs_(std::move(specs)), slots_(micro_batches) {}

bool TensorLink::Encodes(size_t tensor) const {
  return options_.codec != nullptr && !options_.codec->is_identity() &&
         specs_[tensor].dtype == DType::kF32;
}

std::vector<Tensor> TensorLink::EncodeBuffers() const {
  std::vector<Tensor> buffers(specs_.size());
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (Encodes(i)) buffers[i] = Bytes(options_.codec->MaxEncodedBytes(Numel(specs_[i].shape)));
  }
  return buffers;
}

void TensorLink::PrepareToSend() {
  for (Slot& slot : slots_) slot.encoded = EncodeBuffers();
}

void TensorLink::PrepareToRecv() { receive_buffers_ = EncodeBuffers(); }

Tag TensorLink::HeaderTag(int micro_batch) const {
  const int message = options_.cut * static_cast<int>(slots_.size()) + micro_batch;
  return {TagClass::kControl, 2 * message + (options_.kind == TagClass::kGradient ? 1 : 0)};
}

Tag TensorLink::PayloadTag(int micro_batch, size_t tensor) const {
  const int message = options_.cut * static_cast<int>(slots_.size()) + micro_batch;
  return {options_.kind, message * static_cast<int>(specs_.size()) + static_cast<int>(tensor)};
}

void TensorLink::Wait(Pending& pending, RankTotals& totals) {
  const WaitTime time = pending.Wait();
  totals.idle += static_cast<double>(time.blocked) * 1e-9;
  totals.transfer += static_cast<double>(time.moving) * 1e-9;
}

void TensorLink::Release(Slot& slot, RankTotals& totals) {
  for (Pending& pending : slot.pending) Wait(pending, totals);
  slot.pending.clear();
  slot.tensors.clear();
}

void TensorLink::ReleaseTaken(RankTotals& totals) {
  for (Slot& slot : slots_) {
    const auto taken = [](const Pending& pending) { return pending.Done(); };
    if (std::all_of(slot.pending.begin(), slot.pending.end(), taken)) Release(slot, totals);
  }
}

ConstBuffer TensorLink::Payload(Slot& slot, size_t i) {
  const Tensor& tensor = slot.tensors[i];
  TensorHeader& header = slot.headers[i];
  raw_bytes_ += tensor.bytes();
  if (Encodes(i) && tensor.numel() > 0) {
    Tensor& buffer = slot.encoded[i];
    const std::span<std::byte> out(reinterpret_cast<std::byte*>(buffer.mutable_data<uint8_t>()),
                                   buffer.bytes());
    header.payload_bytes = options_.codec->Encode(Floats(tensor), out);
    header.encoded = 1;
    finite_ = finite_ && header.payload_bytes > 0;
  }
  sent_bytes_ += header.payload_bytes;
  const Tensor& source = header.encoded ? slot.encoded[i] : tensor;
  return {source.raw(), header.payload_bytes, source.device()};
}

void TensorLink::Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
                      RankTotals& totals) {
  TORUS_CHECK(tensors.size() == specs_.size(), "{}: {} tensors for {} specs", what, tensors.size(),
              specs_.size());
  ReleaseTaken(totals);
  Slot& slot = slots_[micro_batch];
  Release(slot, totals);
  const int64_t begin = trace::Now();
  std::vector<ConstBuffer> payloads(tensors.size());
  slot.headers.clear();
  for (size_t i = 0; i < tensors.size(); ++i) {
    slot.tensors.push_back(tensors[i].defined() ? tensors[i].Contiguous() : Tensor());
    slot.headers.push_back(HeaderOf(slot.tensors[i]));
    if (slot.tensors[i].defined()) payloads[i] = Payload(slot, i);
  }
  slot.pending.push_back(options_.transport->Send(
      options_.peer, HeaderTag(micro_batch),
      {slot.headers.data(), slot.headers.size() * sizeof(TensorHeader)}, what + " (its shape)"));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!slot.tensors[i].defined()) continue;
    slot.pending.push_back(
        options_.transport->Send(options_.peer, PayloadTag(micro_batch, i), payloads[i], what));
  }
  totals.transfer += SecondsSince(begin);
}

void TensorLink::CheckHeader(const TensorHeader& header, size_t tensor,
                             const std::string& what) const {
  const TensorSpec& spec = specs_[tensor];
  const Shape shape = ShapeOf(header);
  bool fits = shape.rank() == spec.shape.rank() && DTypeOf(header) == spec.dtype;
  for (int d = 0; fits && d < shape.rank(); ++d) fits = shape[d] <= spec.shape[d];
  Require(fits, "pipeline", "{}: agreed on at most {} {}, got {} {}", what, Name(spec.dtype),
          spec.shape, Name(DTypeOf(header)), shape);
}

void TensorLink::Decode(const Tensor& payload, size_t bytes, Tensor& out) {
  const std::span<float> values(out.mutable_data<float>(), static_cast<size_t>(out.numel()));
  if (bytes > 0)
    return options_.codec->Decode({static_cast<const std::byte*>(payload.raw()), bytes}, values);
  std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
  finite_ = false;
}

Tensor TensorLink::RecvTensor(const TensorHeader& header, int micro_batch, size_t tensor,
                              const std::string& what, RankTotals& totals) {
  if (!header.defined) return Tensor();
  CheckHeader(header, tensor, what);
  Tensor out(ShapeOf(header), DTypeOf(header));
  Tensor& target = header.encoded ? receive_buffers_[tensor] : out;
  TORUS_CHECK(target.defined() && header.payload_bytes <= target.bytes(), "{}: {} bytes", what,
              header.payload_bytes);
  Pending pending =
      options_.transport->Recv(options_.peer, PayloadTag(micro_batch, tensor),
                               {target.mutable_raw(), header.payload_bytes, target.device()}, what);
  Wait(pending, totals);
  if (header.encoded) {
    const int64_t begin = trace::Now();
    Decode(target, header.payload_bytes, out);
    totals.transfer += SecondsSince(begin);
  }
  return out;
}

std::vector<Tensor> TensorLink::Recv(int micro_batch, const std::string& what, RankTotals& totals) {
  std::vector<TensorHeader> headers(specs_.size());
  Pending pending = options_.transport->Recv(
      options_.peer, HeaderTag(micro_batch),
      {headers.data(), headers.size() * sizeof(TensorHeader)}, what + " (its shape)");
  Wait(pending, totals);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < headers.size(); ++i) {
    tensors.push_back(RecvTensor(headers[i], micro_batch, i, what, totals));
  }
  return tensors;
}

void TensorLink::Flush(RankTotals& totals) {
  for (Slot& slot : slots_) Release(slot, totals);
}

}  // namespace torus::parallel
