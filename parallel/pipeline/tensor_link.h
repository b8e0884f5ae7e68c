// TensorLink: one direction between two stages on different ranks, activations forward or gradients
// backward. Each of the two ranks has an object of its own, one to send and one to receive.
//
// A micro-batch is sent as one message with the headers of its tensors, then one message for each
// tensor. With a codec, f32 and bf16 tensors are encoded, as f32, into buffers that were allocated
// when the ranks agreed on shapes; all others are copied as they are. A tensor that is not finite,
// and that the codec could not encode for that reason, arrives filled with NaN, and finite() is
// false on both ranks. An EncoderThread, where the rank has one, encodes and sends while the rank
// goes on. Where several ranks have the same tensors, each sends a share of a message alone.
//
// Tensors of a GPU are encoded and decoded there where the codec can (LinkCodec), so that what
// crosses to the CPU, if the transport does not take a GPU's memory, is the encoded bytes. A GPU is
// waited for once a micro-batch, for the numbers of bytes, which the headers say. The encoder's
// thread has a stream of its own there, behind what the rank's stream held when it sent.
//
// A receiver starts to receive micro-batches before it needs them (Expect), at most kAhead of them,
// so that their bytes move while the rank computes.
#pragma once

#include <deque>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/pipeline/encoder_thread.h"
#include "parallel/pipeline/link_codec.h"
#include "parallel/pipeline/rank_totals.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"
#include "runtime/stream.h"

namespace torus::parallel {

class TensorLink {
 public:
  struct Options {
    Transport* transport = nullptr;
    int peer = 0;                           // the other rank
    TagClass kind = TagClass::kActivation;  // or kGradient
    int cut = 0;                            // the number of the first stage after the cut
    Codec* codec = nullptr;                 // null or the identity: tensors are sent as they are
    EncoderThread* encoder = nullptr;       // null: the rank's own thread encodes
    Device device = {};  // where the rank computes: tensors are sent from there and arrive there
    int64_t warmup = 0;  // steps of training in which tensors are sent as they are
    // Where files with what a codec remembers of samples lie (LinkCodec::KeepSamplesAt); empty: in
    // memory.
    std::string samples_folder = {};
    // The ranks on this side that all send, or all receive, the same tensors: each message is
    // shared out over them (transport/shared_message.h). Null: every rank's goes whole.
    Transport* sharers = nullptr;
  };
  // `specs`: the tensors of the largest micro-batch. `micro_batches`: how many may be sent and not
  // yet received.
  TensorLink(Options options, std::vector<TensorSpec> specs, int micro_batches);

  // Allocates the buffers of a sender, or of a receiver; before step 0.
  void PrepareToSend();
  void PrepareToRecv();

  // Starts sending one tensor for each spec (undefined ones too) and returns. The link keeps the
  // tensors until they have been received; one on another device is copied first. `what` describes
  // the message in errors; `when` is for the codec, and what it points to stays until Flush.
  void Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
            RankTotals& totals, const CodecContext& when = {});
  // Starts to receive `micro_batch`, which comes behind those expected already. False, and nothing
  // is started, where kAhead are.
  bool Expect(int micro_batch, const std::string& what);
  // Starts to receive the tensors of those whose headers have come.
  void Advance();
  // Blocks until the tensors of `micro_batch`, the first one expected, have arrived. BadInput when
  // one is larger than its spec, or not as it was sent. `when` as the sender's.
  std::vector<Tensor> Recv(int micro_batch, const std::string& what, RankTotals& totals,
                           const CodecContext& when = {});
  // Gives up what is expected, after an error.
  void Forget() { arrivals_.clear(); }
  // Throws what the encoder's thread has thrown. `wait`: until it has done all.
  void CheckSent(bool wait);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // False once the codec could not encode a tensor, sent or received since ResetFinite.
  // Waits for the encoder.
  bool finite() const;
  void ResetFinite() { finite_ = true; }
  // Of what has come into a GPU's memory, for which Recv does not wait: BadInput where it is not
  // what was sent. Waits for the GPU.
  void CheckArrived();

  int peer() const { return options_.peer; }
  // Of this end of the link among all of a pipeline's: "activation 1 sent".
  std::string MemoryName() const;
  // After Flush, behind a step of training: whether it was taken (LinkCodec::Settle).
  void SettleCodec(bool taken) { codec_.Settle(taken); }
  // What its codec remembers of each tensor (link_codec.h); between steps.
  LinkCodec& codec() { return codec_; }
  // After Flush.
  // Of the tensors sent so far, or the shares of them; what is bf16 counts as the f32 that it
  // stands for.
  uint64_t raw_bytes() const { return raw_bytes_; }
  uint64_t sent_bytes() const { return sent_bytes_; }  // of their messages, headers not counted

 private:
  struct Message {
    Pending pending;
    Device device = {};  // of its memory
  };
  // A micro-batch that is being sent: what must stay allocated until it has been received.
  struct Slot {
    CodecContext when;
    std::vector<TensorHeader> headers;
    std::vector<Tensor> tensors;
    std::vector<Tensor> encoded;  // u8, one for each spec that is encoded
    std::vector<Tensor> sent;     // the memory of the messages
    std::vector<Message> pending;
    std::future<void> encoding;     // valid: the encoder's thread has the rest of the slot
    std::optional<Event> computed;  // on a GPU: behind which the encoder may read the tensors
  };
  // A micro-batch that is expected.
  struct Arrival {
    int micro_batch = 0;
    std::string what;
    size_t buffers = 0;  // which of receive_buffers_
    std::vector<TensorHeader> headers;
    std::vector<Tensor> tensors;  // once the headers are there, one for each spec
    std::vector<Tensor> memory;   // into which their messages are received
    Message header;
    std::vector<Message> pending;  // one for each tensor
  };
  static constexpr size_t kAhead = 2;
  // Of a micro-batch among those of all cuts. Its tensors have one tag, and come in their order.
  int MessageNumber(int micro_batch) const;
  Tag HeaderTag(int micro_batch) const;
  Tag PayloadTag(int micro_batch) const;
  bool Encodes(size_t tensor) const { return codec_.Encodes(specs_[tensor].dtype); }
  // From where what lies on `device` is sent, and where it is received.
  Device MemoryOf(Device device) const;
  std::vector<Tensor> EncodeBuffers(Device device) const;
  bool UsesEncoder() const;
  void PrepareFiles();
  // Encodes and starts the messages of a slot.
  void EncodeAndSend(Slot& slot, int micro_batch, const std::string& what);
  // The same on the encoder's thread: an error aborts the run too, since the rank may wait.
  void EncodeBeside(Slot& slot, int micro_batch, const std::string& what);
  // Takes the slot back from that thread once it is done.
  static bool TakeBack(Slot& slot, bool wait);
  // The buffers into which tensors of the slot are to be encoded.
  std::vector<Tensor> BuffersOf(const Slot& slot) const;
  // Encodes into them; makes what is sent of each tensor, and completes its header.
  void EncodeSlot(Slot& slot);
  void Complete(Slot& slot, size_t i);
  // Starts the message of tensor i.
  Message SendTensor(Slot& slot, size_t i, Tag tag, const std::string& what);
  // From the memory of its message.
  void Restore(const CodecContext& when, Arrival& arrival, size_t i);
  void CheckPayload(const Arrival& arrival, size_t i);
  // The memory for the message of tensor i.
  Tensor MemoryFor(const Arrival& arrival, size_t i) const;
  void StartTensors(Arrival& arrival);
  Message StartTensor(Arrival& arrival, size_t tensor);
  bool Fits(const TensorHeader& header, size_t tensor) const;
  bool Fits(const Arrival& arrival) const;
  void CheckHeader(const TensorHeader& header, size_t tensor, const std::string& what) const;
  // Where the memory is a GPU's, that GPU's current stream waits, not the rank.
  static void Wait(Message& message, RankTotals& totals);
  static void Release(Slot& slot, RankTotals& totals);
  void ReleaseTaken(RankTotals& totals);

  Options options_;
  LinkCodec codec_;
  std::vector<TensorSpec> specs_;
  std::optional<Stream> encoder_stream_;  // on a GPU
  std::vector<Slot> slots_;               // of a sender, one a micro-batch
  // Of a receiver: kAhead sets, used in turn. They outlive what is received into them.
  std::vector<std::vector<Tensor>> receive_buffers_;
  std::deque<Arrival> arrivals_;
  size_t expected_ = 0;  // so far
  uint64_t raw_bytes_ = 0, sent_bytes_ = 0;
  bool finite_ = true, sends_ = false;
};

}  // namespace torus::parallel
