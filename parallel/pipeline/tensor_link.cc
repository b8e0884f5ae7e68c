#include "parallel/pipeline/tensor_link.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "parallel/pipeline/add_context.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"
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
  return parallel::Encodes(options_.codec, specs_[tensor].dtype);
}

// From where a tensor is sent and where it is received.
Device TensorLink::DeviceOf(size_t tensor) const {
  const Device own = options_.device;
  return !Encodes(tensor) && options_.transport->TakesMemoryOf(own) ? own : Device{};
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

void TensorLink::PrepareToRecv() {
  for (size_t i = 0; i < kAhead; ++i) receive_buffers_.push_back(EncodeBuffers());
}

int TensorLink::MessageNumber(int micro_batch) const {
  return options_.cut * static_cast<int>(slots_.size()) + micro_batch;
}

Tag TensorLink::HeaderTag(int micro_batch) const {
  const int gradient = options_.kind == TagClass::kGradient ? 1 : 0;
  return {TagClass::kControl, 2 * MessageNumber(micro_batch) + gradient};
}

Tag TensorLink::PayloadTag(int micro_batch) const {
  return {options_.kind, MessageNumber(micro_batch)};
}

void TensorLink::Wait(Message& message, RankTotals& totals) {
  const WaitTime time = message.device.kind == DeviceKind::kCuda
                            ? message.pending.WaitOn(CurrentStream(message.device))
                            : message.pending.Wait();
  totals.idle += static_cast<double>(time.blocked) * 1e-9;
  totals.transfer += static_cast<double>(time.moving) * 1e-9;
}

bool TensorLink::UsesEncoder() const {
  if (options_.encoder == nullptr) return false;
  for (size_t i = 0; i < specs_.size(); ++i)
    if (Encodes(i)) return true;
  return false;
}

bool TensorLink::TakeBack(Slot& slot, bool wait) {
  if (!slot.encoding.valid()) return true;
  constexpr std::chrono::seconds kNow{0};
  if (!wait && slot.encoding.wait_for(kNow) != std::future_status::ready) return false;
  slot.encoding.get();
  return true;
}

void TensorLink::Release(Slot& slot, RankTotals& totals) {
  const int64_t begin = trace::Now();
  TakeBack(slot, true);
  totals.transfer += SecondsSince(begin);
  for (Message& message : slot.pending) Wait(message, totals);
  slot.pending.clear();
  slot.tensors.clear();
}

void TensorLink::ReleaseTaken(RankTotals& totals) {
  for (Slot& slot : slots_) {
    if (!TakeBack(slot, false)) continue;
    const auto taken = [](const Message& message) { return message.pending.Done(); };
    if (std::all_of(slot.pending.begin(), slot.pending.end(), taken)) Release(slot, totals);
  }
}

bool TensorLink::finite() const {
  for (const Slot& slot : slots_)
    if (slot.encoding.valid()) slot.encoding.wait();
  return finite_;
}

ConstBuffer TensorLink::Payload(Slot& slot, size_t i) {
  const Tensor& tensor = slot.tensors[i];
  TensorHeader& header = slot.headers[i];
  raw_bytes_ += tensor.dtype() == DType::kBF16 ? 2 * tensor.bytes() : tensor.bytes();
  if (Encodes(i) && tensor.numel() > 0) {
    Tensor& buffer = slot.encoded[i];
    const std::span<std::byte> out(reinterpret_cast<std::byte*>(buffer.mutable_data<uint8_t>()),
                                   buffer.bytes());
    header.payload_bytes = options_.codec->Encode(Floats(tensor.To(DType::kF32)), out);
    header.encoded = 1;
    finite_ = finite_ && header.payload_bytes > 0;
  }
  sent_bytes_ += header.payload_bytes;
  const Tensor& source = header.encoded ? slot.encoded[i] : tensor;
  return {source.raw(), header.payload_bytes, source.device(), CurrentStream(source.device())};
}

void TensorLink::Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
                      RankTotals& totals) {
  TORUS_CHECK(tensors.size() == specs_.size(), "{}: {} tensors for {} specs", what, tensors.size(),
              specs_.size());
  ReleaseTaken(totals);
  Slot& slot = slots_[micro_batch];
  Release(slot, totals);
  const int64_t begin = trace::Now();
  slot.headers.clear();
  for (const Tensor& tensor : tensors) {
    const Device device = DeviceOf(slot.tensors.size());
    slot.tensors.push_back(tensor.defined() ? tensor.Contiguous().To(device) : Tensor());
    slot.headers.push_back(HeaderOf(slot.tensors.back()));
  }
  if (UsesEncoder())
    slot.encoding = options_.encoder->Run(
        [this, &slot, micro_batch, what] { EncodeBeside(slot, micro_batch, what); });
  else
    EncodeAndSend(slot, micro_batch, what);
  totals.transfer += SecondsSince(begin);
}

void TensorLink::EncodeAndSend(Slot& slot, int micro_batch, const std::string& what) {
  std::vector<ConstBuffer> payloads(specs_.size());
  for (size_t i = 0; i < specs_.size(); ++i)
    if (slot.tensors[i].defined()) payloads[i] = Payload(slot, i);
  slot.pending.push_back({options_.transport->Send(
      options_.peer, HeaderTag(micro_batch),
      {slot.headers.data(), slot.headers.size() * sizeof(TensorHeader)}, what + " (its shape)")});
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (!slot.tensors[i].defined()) continue;
    slot.pending.push_back(
        {options_.transport->Send(options_.peer, PayloadTag(micro_batch), payloads[i], what),
         payloads[i].device});
  }
}

void TensorLink::EncodeBeside(Slot& slot, int micro_batch, const std::string& what) try {
  try {
    EncodeAndSend(slot, micro_batch, what);
  } catch (...) {
    RethrowWithContext(what);
  }
} catch (const std::exception& error) {
  options_.transport->Abort(error.what());
  throw;
}

void TensorLink::CheckSent(bool wait) {
  for (Slot& slot : slots_) TakeBack(slot, wait);
}

bool TensorLink::Fits(const TensorHeader& header, size_t tensor) const {
  const TensorSpec& spec = specs_[tensor];
  const Shape shape = ShapeOf(header);
  bool fits = shape.rank() == spec.shape.rank() && DTypeOf(header) == spec.dtype;
  for (int d = 0; fits && d < shape.rank(); ++d) fits = shape[d] <= spec.shape[d];
  return fits;
}

void TensorLink::CheckHeader(const TensorHeader& header, size_t tensor,
                             const std::string& what) const {
  const TensorSpec& spec = specs_[tensor];
  const Shape shape = ShapeOf(header);
  Require(Fits(header, tensor), "pipeline", "{}: agreed on at most {} {}, got {} {}", what,
          Name(spec.dtype), spec.shape, Name(DTypeOf(header)), shape);
}

void TensorLink::Decode(const Tensor& payload, size_t bytes, Tensor& out) {
  if (bytes == 0) {
    Fill(out, std::numeric_limits<double>::quiet_NaN());
    finite_ = false;
    return;
  }
  Tensor decoded = out.dtype() == DType::kF32 ? out : Empty(out.shape());
  options_.codec->Decode({static_cast<const std::byte*>(payload.raw()), bytes},
                         {decoded.mutable_data<float>(), static_cast<size_t>(decoded.numel())});
  if (out.dtype() != DType::kF32) Copy(decoded, out);
}

Tensor& TensorLink::Encoded(const Arrival& arrival, size_t tensor) {
  return receive_buffers_[arrival.buffers][tensor];
}

bool TensorLink::Expect(int micro_batch, const std::string& what) {
  if (arrivals_.size() == kAhead) return false;
  Arrival& arrival = arrivals_.emplace_back(Arrival{.micro_batch = micro_batch, .what = what});
  arrival.buffers = expected_++ % kAhead;
  arrival.headers.resize(specs_.size());
  arrival.header.pending = options_.transport->Recv(
      options_.peer, HeaderTag(micro_batch),
      {arrival.headers.data(), arrival.headers.size() * sizeof(TensorHeader)},
      what + " (its shape)");
  return true;
}

void TensorLink::Advance() {
  for (Arrival& arrival : arrivals_) {
    if (!arrival.tensors.empty()) continue;
    if (!arrival.header.pending.Done()) return;
    arrival.header.pending.Wait();
    if (!Fits(arrival)) return;  // Recv says so, at its place
    StartTensors(arrival);
  }
}

bool TensorLink::Fits(const Arrival& arrival) const {
  for (size_t i = 0; i < specs_.size(); ++i)
    if (arrival.headers[i].defined && !Fits(arrival.headers[i], i)) return false;
  return true;
}

void TensorLink::StartTensors(Arrival& arrival) {
  arrival.tensors.resize(specs_.size());
  for (size_t i = 0; i < specs_.size(); ++i) arrival.pending.push_back(StartTensor(arrival, i));
}

TensorLink::Message TensorLink::StartTensor(Arrival& arrival, size_t i) {
  const TensorHeader& header = arrival.headers[i];
  if (!header.defined) return {};
  CheckHeader(header, i, arrival.what);
  arrival.tensors[i] = Tensor(ShapeOf(header), DTypeOf(header), DeviceOf(i));
  Tensor& target = header.encoded ? Encoded(arrival, i) : arrival.tensors[i];
  TORUS_CHECK(target.defined() && header.payload_bytes <= target.bytes(), "{}: {} bytes",
              arrival.what, header.payload_bytes);
  const Device device = target.device();
  return {options_.transport->Recv(
              options_.peer, PayloadTag(arrival.micro_batch),
              {target.mutable_raw(), header.payload_bytes, device, CurrentStream(device)},
              arrival.what),
          device};
}

std::vector<Tensor> TensorLink::Recv(int micro_batch, const std::string& what, RankTotals& totals) {
  if (arrivals_.empty()) Expect(micro_batch, what);
  Arrival& arrival = arrivals_.front();
  TORUS_CHECK(arrival.micro_batch == micro_batch, "{}: micro-batch {} is expected", what,
              arrival.micro_batch);
  Wait(arrival.header, totals);
  if (arrival.tensors.empty()) StartTensors(arrival);
  for (size_t i = 0; i < specs_.size(); ++i) {
    Wait(arrival.pending[i], totals);
    const TensorHeader& header = arrival.headers[i];
    if (!header.defined || !header.encoded) continue;
    const int64_t begin = trace::Now();
    Decode(Encoded(arrival, i), header.payload_bytes, arrival.tensors[i]);
    totals.transfer += SecondsSince(begin);
  }
  std::vector<Tensor> tensors = std::move(arrival.tensors);
  for (Tensor& tensor : tensors)
    if (tensor.defined()) tensor = tensor.To(options_.device);
  arrivals_.pop_front();
  return tensors;
}

void TensorLink::Flush(RankTotals& totals) {
  for (Slot& slot : slots_) Release(slot, totals);
}

}  // namespace torus::parallel
