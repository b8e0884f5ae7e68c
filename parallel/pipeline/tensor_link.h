// TensorLink: carries activations forward or gradients backward between two stages on different
// ranks, in one direction. Each of the two ranks has its own object, one to send and one to
// receive.
//
// A micro-batch is sent as one message with the headers of its tensors, then one message for each
// tensor. With a codec, f32 and bf16 tensors are encoded, as f32, into buffers that were allocated
// when the ranks agreed on shapes; all others are sent as they are. If the codec cannot encode a
// tensor because it has values that are not finite, the tensor arrives filled with NaN, and
// finite() is false on both ranks. If the rank has an EncoderThread, that encodes and sends while
// the rank goes on. If several ranks hold the same tensors, each sends only a share of a message.
//
// Tensors on a GPU are encoded and decoded there if the codec can (LinkCodec), so that only the
// encoded bytes are copied to the CPU if the transport cannot send from a GPU's memory. The sender
// waits for the GPU once per micro-batch, for the byte counts in the headers. The encoder thread
// has its own stream, which waits for the work that the rank's stream had when it sent.
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
  // Between whom, what, and how.
  struct Options {
    Transport* transport = nullptr;         // of the pipeline
    int peer = 0;                           // the other rank
    TagClass kind = TagClass::kActivation;  // or kGradient
    int cut = 0;                            // the number of the first stage after the cut
    // What is carried, in words that stay the same when the model is cut elsewhere: "before block
    // 18". Names the codec's state, so that another cut does not take it for its own.
    std::string place = {};
    Codec* codec = nullptr;            // null or the identity: tensors are sent as they are
    EncoderThread* encoder = nullptr;  // null: the rank's own thread encodes
    Device device = {};  // where the rank computes: tensors are sent from there and arrive there
    int64_t warmup = 0;  // steps of training in which tensors are sent as they are
    // The folder for files with the codec's state of samples (LinkCodec::KeepSamplesAt); empty: it
    // is kept in memory.
    std::string samples_folder = {};
    // The ranks on this side that all send, or all receive, the same tensors; each handles a share
    // of every message (transport/shared_message.h). Null: messages are not shared.
    Transport* sharers = nullptr;
  };
  // `specs`: the tensors of the largest micro-batch. `micro_batches`: the most that may be sent but
  // not yet received.
  TensorLink(Options options, std::vector<TensorSpec> specs, int micro_batches);

  // Allocate the buffers of a sender, or (PrepareToRecv) of a receiver. Call before step 0.
  void PrepareToSend();
  void PrepareToRecv();

  // Starts sending one tensor for each spec (tensors may be undefined) and returns. The link keeps
  // the tensors until they have been received; one on another device is copied first. `what`
  // describes the message in errors. `when` is for the codec; what it points to must live until
  // Flush.
  void Send(int micro_batch, const std::vector<Tensor>& tensors, const std::string& what,
            RankTotals& totals, const CodecContext& when = {});
  // Starts to receive `micro_batch`, the next after those expected already. Returns false and
  // starts nothing if kAhead are expected.
  bool Expect(int micro_batch, const std::string& what);
  // Starts to receive the tensors of those micro-batches whose headers have come.
  void Advance();
  // Blocks until the tensors of `micro_batch`, the first one expected, have arrived. Throws
  // BadInput if one is larger than its spec, damaged, or encoded by another codec. `when` must
  // equal the sender's.
  std::vector<Tensor> Recv(int micro_batch, const std::string& what, RankTotals& totals,
                           const CodecContext& when = {});
  // Drops what is expected, after an error.
  void Forget() { arrivals_.clear(); }
  // Rethrows what the encoder thread has thrown. `wait`: first waits until it has done all its
  // jobs.
  void CheckSent(bool wait);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // False if the codec could not encode a tensor sent or received since ResetFinite. Waits for the
  // encoder thread.
  bool finite() const;
  void ResetFinite() { finite_ = true; }
  // Throws BadInput if data received in a GPU's memory, for which Recv does not wait, is not what
  // was sent. Waits for the GPU.
  void CheckArrived();

  int peer() const { return options_.peer; }  // the other rank
  // A name for this end of the link, unique in the pipeline: "activation 1 sent".
  std::string MemoryName() const;
  // Call after Flush, at the end of a training step (LinkCodec::Settle).
  void SettleCodec(bool taken) { codec_.Settle(taken); }
  // The codec and its state (link_codec.h). Use between steps.
  LinkCodec& codec() { return codec_; }
  // Bytes of the tensors sent so far, or of this rank's shares of them; bf16 counts as f32. Call
  // after Flush.
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
    std::future<void> encoding;     // valid: the encoder thread is using the rest of the slot
    std::optional<Event> computed;  // on a GPU: after it the encoder may read the tensors
  };
  // A micro-batch that is expected.
  struct Arrival {
    int micro_batch = 0;
    std::string what;
    size_t buffers = 0;  // index in receive_buffers_
    std::vector<TensorHeader> headers;
    std::vector<Tensor> tensors;  // once the headers are there, one for each spec
    std::vector<Tensor> memory;   // into which their messages are received
    Message header;
    std::vector<Message> pending;  // one for each tensor
  };
  static constexpr size_t kAhead = 2;
  // A micro-batch's number among the messages of all cuts. Its tensors have one tag and arrive in
  // order.
  int MessageNumber(int micro_batch) const;
  Tag HeaderTag(int micro_batch) const;
  Tag PayloadTag(int micro_batch) const;
  bool Encodes(size_t tensor) const { return codec_.Encodes(specs_[tensor].dtype); }
  // The memory from which a tensor on `device` is sent, or in which it is received.
  Device MemoryOf(Device device) const;
  std::vector<Tensor> EncodeBuffers(Device device) const;
  bool UsesEncoder() const;
  void PrepareFiles();
  // Encodes and starts the messages of a slot.
  void EncodeAndSend(Slot& slot, int micro_batch, const std::string& what);
  // The same on the encoder thread. An error also aborts the run, since the rank may be waiting.
  void EncodeBeside(Slot& slot, int micro_batch, const std::string& what);
  // Takes the slot back from the encoder thread once it is done.
  static bool TakeBack(Slot& slot, bool wait);
  // The buffers for encoding the tensors of the slot.
  std::vector<Tensor> BuffersOf(const Slot& slot) const;
  // Encodes into these buffers, prepares each tensor's message and completes its header.
  void EncodeSlot(Slot& slot);
  void Complete(Slot& slot, size_t i);
  // Starts the message of tensor i.
  Message SendTensor(Slot& slot, size_t i, Tag tag, const std::string& what);
  // Decodes or copies tensor i from the memory of its message.
  void Restore(const CodecContext& when, Arrival& arrival, size_t i);
  void CheckPayload(const Arrival& arrival, size_t i);
  // The memory for the message of tensor i.
  Tensor MemoryFor(const Arrival& arrival, size_t i) const;
  void StartTensors(Arrival& arrival);
  Message StartTensor(Arrival& arrival, size_t tensor);
  // Why a header is refused: it is damaged, of another version or codec, or larger than was agreed
  // on. Empty if it is not. CheckHeader throws that.
  std::string FaultOf(const TensorHeader& header, size_t tensor) const;
  bool Fits(const Arrival& arrival) const;
  void CheckHeader(const TensorHeader& header, size_t tensor, const std::string& what) const;
  // If the memory is a GPU's, that GPU's current stream waits, not the rank.
  static void Wait(Message& message, RankTotals& totals);
  static void Release(Slot& slot, RankTotals& totals);
  void ReleaseTaken(RankTotals& totals);

  Options options_;
  LinkCodec codec_;
  uint32_t codec_number_;  // 0: no codec
  std::vector<TensorSpec> specs_;
  std::optional<Stream> encoder_stream_;  // on a GPU
  std::vector<Slot> slots_;               // of a sender, one a micro-batch
  // Of a receiver: kAhead sets, used in turn. Declared before arrivals_, so that they outlive it.
  std::vector<std::vector<Tensor>> receive_buffers_;
  std::deque<Arrival> arrivals_;
  size_t expected_ = 0;  // so far
  uint64_t raw_bytes_ = 0, sent_bytes_ = 0;
  bool finite_ = true, sends_ = false;
};

}  // namespace torus::parallel
