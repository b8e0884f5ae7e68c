#include "parallel/pipeline/tensor_link.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "parallel/codec/codec_number.h"
#include "parallel/pipeline/add_context.h"
#include "parallel/transport/shared_message.h"
#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

std::span<const std::byte> BytesOf(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
}

// The link's number, equal at both ends.
uint64_t NumberOf(const TensorLink::Options& options) {
  return 2 * static_cast<uint64_t>(options.cut) + (options.kind == TagClass::kGradient ? 1 : 0);
}

double SecondsSince(int64_t begin) { return static_cast<double>(trace::Now() - begin) * 1e-9; }

// The first `count` bytes, in the same memory.
Tensor Front(const Tensor& bytes, size_t count) {
  return bytes.Narrow(0, 0, static_cast<int64_t>(count));
}

}  // namespace

TensorLink::TensorLink(Options options, std::vector<TensorSpec> specs, int micro_batches)
    : options_(options),
      codec_(options.codec, options.device, NumberOf(options)),
      codec_number_(options.codec != nullptr ? CodecNumber(*options.codec) : 0),
      specs_(std::move(specs)),
      slots_(micro_batches) {
  // Tags of headers count both directions, and end where those of other control messages begin.
  constexpr int64_t kMostMessages = (int64_t{3} << 22) / 2;
  const int64_t messages = (int64_t{options.cut} + 1) * micro_batches;
  Require(messages <= kMostMessages, "pipeline",
          "{} cuts of {} micro-batches number their messages up to {}; at most {} have a tag",
          options.cut, micro_batches, messages, kMostMessages);
}

Device TensorLink::MemoryOf(Device device) const {
  return options_.transport->Moves(device) ? device : Device{};
}

std::vector<Tensor> TensorLink::EncodeBuffers(Device device) const {
  std::vector<Tensor> buffers(specs_.size());
  for (size_t i = 0; i < specs_.size(); ++i)
    if (Encodes(i))
      buffers[i] = Empty({static_cast<int64_t>(codec_.MaxBytes(specs_[i]))}, DType::kU8, device);
  return buffers;
}

std::string TensorLink::MemoryName() const {
  return fmt::format("{} {} {}", options_.kind == TagClass::kGradient ? "gradient" : "activation",
                     options_.place, sends_ ? "sent" : "received");
}

void TensorLink::PrepareFiles() {
  if (options_.samples_folder.empty()) return;
  std::string name = MemoryName();
  std::ranges::replace(name, '/', '_');
  codec_.KeepSamplesAt(fmt::format("{}/{}, tensor", options_.samples_folder, name));
}

void TensorLink::PrepareToSend() {
  sends_ = true;
  PrepareFiles();
  const Device device = codec_.device();
  codec_.PrepareToEncode(specs_, device != Device{} && MemoryOf(device) == device);
  const bool beside = UsesEncoder() && options_.device.kind == DeviceKind::kCuda;
  if (beside) encoder_stream_.emplace(options_.device);
  for (Slot& slot : slots_) {
    slot.encoded = EncodeBuffers(codec_.device());
    if (beside) slot.computed.emplace(options_.device);
  }
}

void TensorLink::PrepareToRecv() {
  PrepareFiles();
  for (size_t i = 0; i < kAhead; ++i)
    receive_buffers_.push_back(EncodeBuffers(MemoryOf(codec_.device())));
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
  slot.sent.clear();
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

void TensorLink::CheckArrived() {
  Require(
      codec_.AllEqual(), "pipeline",
      "{}: what came from rank {} into the memory of a GPU has not the checksum of what was sent",
      MemoryName(), options_.peer);
}

std::vector<Tensor> TensorLink::BuffersOf(const Slot& slot) const {
  std::vector<Tensor> buffers(specs_.size());
  if (slot.when.training && slot.when.step < options_.warmup) return buffers;
  for (size_t i = 0; i < specs_.size(); ++i) {
    const Tensor& tensor = slot.tensors[i];
    if (tensor.defined() && Encodes(i) && tensor.numel() > 0) buffers[i] = slot.encoded[i];
  }
  return buffers;
}

void TensorLink::EncodeSlot(Slot& slot) {
  std::vector<Tensor> buffers = BuffersOf(slot);
  const std::vector<size_t> bytes = codec_.Encode(slot.when, slot.tensors, buffers);
  slot.sent = slot.tensors;
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (buffers[i].defined()) {
      slot.headers[i].codec = codec_number_;
      slot.headers[i].payload_bytes = bytes[i];
      slot.sent[i] = Front(buffers[i], bytes[i]);
      finite_ = finite_ && bytes[i] > 0;
    }
    if (slot.tensors[i].defined()) Complete(slot, i);
    Seal(slot.headers[i]);
  }
}

void TensorLink::Complete(Slot& slot, size_t i) {
  const Tensor& tensor = slot.tensors[i];
  Tensor& sent = slot.sent[i];
  sent = sent.To(MemoryOf(sent.device()));
  TensorHeader& header = slot.headers[i];
  if (header.encoded()) {
    const bool here = sent.device() == Device{};
    header.checksum = here ? Crc32c(BytesOf(sent)) : codec_.checksum(i);
  }
  const size_t raw = SizeOf(tensor.dtype()) == 2 ? 2 * tensor.bytes() : tensor.bytes();
  raw_bytes_ += BytesOfPart(options_.sharers, raw);
  sent_bytes_ += BytesOfPart(options_.sharers, slot.headers[i].payload_bytes);
}

void TensorLink::Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
                      RankTotals& totals, const CodecContext& when) {
  TORUS_CHECK(tensors.size() == specs_.size(), "{}: {} tensors for {} specs", what, tensors.size(),
              specs_.size());
  ReleaseTaken(totals);
  Slot& slot = slots_[micro_batch];
  Release(slot, totals);
  const int64_t begin = trace::Now();
  slot.when = when;
  slot.headers.clear();
  for (const Tensor& tensor : tensors) {
    slot.tensors.push_back(tensor.defined() ? tensor.Contiguous().To(options_.device) : Tensor());
    slot.headers.push_back(HeaderOf(slot.tensors.back()));
  }
  if (UsesEncoder()) {
    if (slot.computed) slot.computed->Record(CurrentStream(options_.device));
    slot.encoding = options_.encoder->Run(
        [this, &slot, micro_batch, what] { EncodeBeside(slot, micro_batch, what); });
  } else {
    EncodeAndSend(slot, micro_batch, what);
  }
  totals.transfer += SecondsSince(begin);
}

void TensorLink::EncodeAndSend(Slot& slot, int micro_batch, const std::string& what) {
  EncodeSlot(slot);
  slot.pending.push_back({options_.transport->Send(
      options_.peer, HeaderTag(micro_batch),
      {slot.headers.data(), slot.headers.size() * sizeof(TensorHeader)}, what + " (its shape)")});
  for (size_t i = 0; i < specs_.size(); ++i)
    if (slot.sent[i].defined())
      slot.pending.push_back(SendTensor(slot, i, PayloadTag(micro_batch), what));
}

// An empty tensor is sent as if from the CPU.
TensorLink::Message TensorLink::SendTensor(Slot& slot, size_t i, Tag tag, const std::string& what) {
  const Tensor& sent = slot.sent[i];
  const size_t bytes = slot.headers[i].payload_bytes;
  const Device device = bytes > 0 ? sent.device() : Device{};
  const ConstBuffer buffer{sent.raw(), bytes, device, CurrentStream(device)};
  return {SendPart(*options_.transport, options_.sharers, options_.peer, tag, buffer, what),
          device};
}

void TensorLink::EncodeBeside(Slot& slot, int micro_batch, const std::string& what) try {
  try {
    if (!encoder_stream_) return EncodeAndSend(slot, micro_batch, what);
    const WithStream in_its_stream(*encoder_stream_);
    encoder_stream_->Wait(*slot.computed);
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

std::string TensorLink::FaultOf(const TensorHeader& header, size_t tensor) const {
  if (std::string fault = parallel::FaultOf(header); !fault.empty()) return fault;
  if (!header.defined) return "";
  if (header.encoded() && header.codec != codec_number_)
    return fmt::format(
        "the receiver decodes codec number {:08x} ({}), the sender encoded by {:08x}",
        codec_number_, options_.codec != nullptr ? options_.codec->name() : "none", header.codec);
  const TensorSpec& spec = specs_[tensor];
  const Shape shape = ShapeOf(header);
  bool fits = shape.rank() == spec.shape.rank() && DTypeOf(header) == spec.dtype;
  for (int d = 0; fits && d < shape.rank(); ++d) fits = shape[d] <= spec.shape[d];
  if (fits) return "";
  return fmt::format("agreed on at most {} {}, got {} {}", Name(spec.dtype), spec.shape,
                     Name(DTypeOf(header)), shape);
}

void TensorLink::CheckHeader(const TensorHeader& header, size_t tensor,
                             const std::string& what) const {
  const std::string fault = FaultOf(header, tensor);
  Require(fault.empty(), "pipeline", "{}: tensor {}: {}", what, tensor, fault);
}

void TensorLink::CheckPayload(const Arrival& arrival, size_t i) {
  const TensorHeader& header = arrival.headers[i];
  const Tensor& memory = arrival.memory[i];
  if (memory.device() != Device{}) return codec_.Compare(memory, header.checksum);
  const uint32_t found = Crc32c(BytesOf(memory));
  Require(found == header.checksum, "pipeline",
          "{}: tensor {} was sent with the checksum {:08x}, what came has {:08x}", arrival.what, i,
          header.checksum, found);
}

void TensorLink::Restore(const CodecContext& when, Arrival& arrival, size_t i) {
  const TensorHeader& header = arrival.headers[i];
  const Tensor& memory = arrival.memory[i];
  Tensor& out = arrival.tensors[i];
  if (header.encoded() && header.payload_bytes == 0) {
    Fill(out, std::numeric_limits<double>::quiet_NaN());
    finite_ = false;
  } else if (header.encoded()) {
    CheckPayload(arrival, i);
    codec_.Decode(when, i, memory, out);
  } else if (memory.device() != out.device()) {
    Copy(memory, out);
  }
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
    if (!Fits(arrival)) return;  // Recv reports that later
    StartTensors(arrival);
  }
}

bool TensorLink::Fits(const Arrival& arrival) const {
  for (size_t i = 0; i < specs_.size(); ++i)
    if (!FaultOf(arrival.headers[i], i).empty()) return false;
  return true;
}

void TensorLink::StartTensors(Arrival& arrival) {
  arrival.tensors.resize(specs_.size());
  arrival.memory.resize(specs_.size());
  for (size_t i = 0; i < specs_.size(); ++i) arrival.pending.push_back(StartTensor(arrival, i));
}

Tensor TensorLink::MemoryFor(const Arrival& arrival, size_t i) const {
  const TensorHeader& header = arrival.headers[i];
  const Tensor& tensor = arrival.tensors[i];
  if (header.encoded()) {
    const Tensor& buffer = receive_buffers_[arrival.buffers][i];
    TORUS_CHECK(buffer.defined() && header.payload_bytes <= buffer.bytes(), "{}: {} bytes",
                arrival.what, header.payload_bytes);
    return Front(buffer, header.payload_bytes);
  }
  TORUS_CHECK(header.payload_bytes == tensor.bytes(), "{}: {} bytes", arrival.what,
              header.payload_bytes);
  const Device device = MemoryOf(tensor.device());
  return device == tensor.device() ? tensor : Empty(tensor.shape(), tensor.dtype(), device);
}

TensorLink::Message TensorLink::StartTensor(Arrival& arrival, size_t i) {
  const TensorHeader& header = arrival.headers[i];
  CheckHeader(header, i, arrival.what);
  if (!header.defined) return {};
  arrival.tensors[i] = Tensor(ShapeOf(header), DTypeOf(header), options_.device);
  Tensor& memory = arrival.memory[i] = MemoryFor(arrival, i);
  const Device device = header.payload_bytes > 0 ? memory.device() : Device{};
  const Buffer buffer{memory.mutable_raw(), header.payload_bytes, device, CurrentStream(device)};
  return {RecvParts(*options_.transport, options_.sharers, options_.peer,
                    PayloadTag(arrival.micro_batch), buffer, arrival.what),
          device};
}

std::vector<Tensor> TensorLink::Recv(int micro_batch, const std::string& what, RankTotals& totals,
                                     const CodecContext& when) {
  if (arrivals_.empty()) Expect(micro_batch, what);
  Arrival& arrival = arrivals_.front();
  TORUS_CHECK(arrival.micro_batch == micro_batch, "{}: micro-batch {} is expected", what,
              arrival.micro_batch);
  Wait(arrival.header, totals);
  if (arrival.tensors.empty()) StartTensors(arrival);
  for (size_t i = 0; i < specs_.size(); ++i) {
    Wait(arrival.pending[i], totals);
    if (!arrival.headers[i].defined) continue;
    const int64_t begin = trace::Now();
    Restore(when, arrival, i);
    totals.transfer += SecondsSince(begin);
  }
  std::vector<Tensor> tensors = std::move(arrival.tensors);
  arrivals_.pop_front();
  return tensors;
}

void TensorLink::Flush(RankTotals& totals) {
  for (Slot& slot : slots_) Release(slot, totals);
}

}  // namespace torus::parallel
