#include "parallel/transport/nccl/nccl_receiver.h"

#include <algorithm>
#include <utility>

#include "parallel/transport/nccl/nccl_wait.h"
#include "runtime/error.h"
#include "runtime/storage.h"
#include "runtime/stream.h"

namespace torus::parallel {

// A message in the link's own memory.
struct NcclReceiver::Held {
  Held(const Announcement& announcement, Device device)
      : head(announcement), memory(announcement.bytes, device) {}
  Announcement head;
  Storage memory;
  std::unique_ptr<NcclWork> work;
};

struct NcclReceiver::Message {
  TransferText text;
  Buffer buffer;
  std::unique_ptr<NcclWork> work;  // once it is in a stream
  std::shared_ptr<Held> held;      // what the work copies from
  std::string error;
  bool dropped = false;  // it keeps its place in the order
  bool started() const { return work != nullptr || !error.empty(); }
};

class NcclReceiver::State : public Pending::State {
 public:
  State(NcclReceiver& receiver, std::shared_ptr<Message> message)
      : receiver_(receiver), message_(std::move(message)) {}
  ~State() override {
    if (message_) receiver_.Drop(*message_);
  }

  WaitTime Wait() override {
    WaitTime time = Started();
    time.moving = receiver_.WaitForEnd(*message_).moving;
    message_ = nullptr;
    return time;
  }

  WaitTime WaitOn(StreamHandle stream) override {
    const WaitTime time = Started();
    message_->work->Precede(stream);
    receiver_.KeepUntilEnded(std::exchange(message_, nullptr));
    return time;
  }

  bool Done() override {
    receiver_.TakeAnnouncements();
    receiver_.StartThoseAskedFor();
    ThrowError();
    return message_->work != nullptr && message_->work->Done();
  }

 private:
  WaitTime Started() {
    const WaitTime time = receiver_.WaitUntilStarted(message_);
    ThrowError();
    return time;
  }
  void ThrowError() const {
    if (!message_->error.empty()) throw BadInput(message_->error);
  }

  NcclReceiver& receiver_;
  std::shared_ptr<Message> message_;
};

NcclReceiver::NcclReceiver(Transport& inner, NcclLibrary& library, std::unique_ptr<NcclComm> comm,
                           int peer, Device device, double timeout)
    : inner_(inner),
      library_(library),
      comm_(std::move(comm)),
      peer_(peer),
      device_(device),
      timeout_(timeout) {
  Listen();
}

// Nothing may be received after this into the memory that is freed now.
NcclReceiver::~NcclReceiver() { comm_->Abort(); }

WaitTime NcclReceiver::WaitForEnd(Message& message) {
  return WaitForWork(*message.work, *comm_, inner_, timeout_, WaitingText(message.text));
}

void NcclReceiver::Finish() {
  for (const auto& message : on_streams_) WaitForEnd(*message);
  on_streams_.clear();
  WaitUntilTold();
  if (std::exchange(taken_, false)) Tell(kEndedTag);
}

void NcclReceiver::WaitUntilTold() {
  for (Pending& each : told_) each.Wait();
  told_.clear();
}

void NcclReceiver::Listen() {
  listening_ = inner_.Recv(peer_, kAnnouncementTag, {&next_, sizeof next_}, "announcement");
}

Pending NcclReceiver::Recv(Tag tag, Buffer buffer, std::string what) {
  auto message = std::make_shared<Message>();
  message->buffer = buffer;
  message->text = {false, inner_.rank(), peer_, tag, buffer.bytes, std::move(what)};
  if (!TakeHeld(*message)) asked_for_.push_back(message);
  TakeAnnouncements();
  StartThoseAskedFor();
  return Pending(std::make_unique<State>(*this, std::move(message)));
}

void NcclReceiver::TakeAnnouncements() {
  while (listening_.Done()) {
    listening_.Wait();
    announced_.push_back(next_);
    Listen();
  }
}

bool NcclReceiver::Announced(const Message& message) const {
  const Tag tag = message.text.tag;
  const auto itself = [&](const auto& each) { return each.get() == &message; };
  const auto before =
      std::count_if(asked_for_.begin(), std::find_if(asked_for_.begin(), asked_for_.end(), itself),
                    [&](const auto& each) { return each->text.tag == tag; });
  return std::ranges::count(announced_, tag, &Announcement::tag) > before;
}

WaitTime NcclReceiver::WaitUntilStarted(const std::shared_ptr<Message>& message) {
  WaitTime time;
  while (true) {
    TakeAnnouncements();
    StartThoseAskedFor();
    if (message->started()) return time;
    if (Announced(*message)) {
      held_.push_back(Hold(announced_.front()));
      announced_.pop_front();
      continue;
    }
    time.blocked += WaitFor(listening_, message->text).blocked;
    announced_.push_back(next_);
    Listen();
  }
}

void NcclReceiver::StartThoseAskedFor() {
  while (!announced_.empty()) {
    const Announcement announcement = announced_.front();
    const auto asked = std::ranges::find_if(
        asked_for_, [&](const auto& message) { return message->text.tag == announcement.tag(); });
    if (asked == asked_for_.end()) return;
    Start(**asked, announcement);
    asked_for_.erase(asked);
    announced_.pop_front();
  }
}

void NcclReceiver::Start(Message& message, const Announcement& announcement) {
  if (message.dropped) return KeepUntilEnded(Hold(announcement), message.text);
  if (announcement.bytes != message.buffer.bytes) {
    const TransferText send{
        true, peer_, inner_.rank(), announcement.tag(), announcement.bytes, announcement.what};
    message.error = SizesDifferText(send, message.text);
    return;
  }
  message.work = StartWork(message.text, [&] { return comm_->Recv(message.buffer, 0); });
  Answer();
}

std::shared_ptr<NcclReceiver::Held> NcclReceiver::Hold(const Announcement& announcement) {
  auto held = std::make_shared<Held>(announcement, device_);
  held->work =
      comm_->Recv({held->memory.data(), announcement.bytes, device_, CurrentStream(device_)}, 0);
  Answer();
  return held;
}

bool NcclReceiver::TakeHeld(Message& message) {
  const auto found = std::ranges::find_if(
      held_, [&](const auto& held) { return held->head.tag() == message.text.tag; });
  if (found == held_.end()) return false;
  const std::shared_ptr<Held> held = *found;
  held_.erase(found);
  const Announcement& head = held->head;
  if (head.bytes != message.buffer.bytes) {
    message.error = SizesDifferText({true, peer_, inner_.rank(), head.tag(), head.bytes, head.what},
                                    message.text);
    KeepUntilEnded(held, message.text);
    return true;
  }
  message.work = library_.Copy(message.buffer, held->memory.data(), *held->work);
  message.held = held;
  return true;
}

void NcclReceiver::Answer() {
  taken_ = true;
  Tell(kTakenTag);
}

void NcclReceiver::Tell(Tag tag) {
  static constexpr char kToken = 1;
  while (!told_.empty() && told_.front().Done()) told_.pop_front();
  told_.push_back(inner_.Send(peer_, tag, {&kToken, 1}, "answer"));
}

void NcclReceiver::KeepUntilEnded(std::shared_ptr<Message> message) {
  on_streams_.push_back(std::move(message));
  while (!on_streams_.empty() && on_streams_.front()->work->Done()) on_streams_.pop_front();
}

// For a message that nobody requests: its memory must stay until it has arrived.
void NcclReceiver::KeepUntilEnded(const std::shared_ptr<Held>& held, const TransferText& text) {
  auto message = std::make_shared<Message>();
  message->text = text;
  message->held = held;
  message->work = std::move(held->work);
  KeepUntilEnded(std::move(message));
}

void NcclReceiver::Drop(Message& message) noexcept {
  message.dropped = true;
  if (message.work == nullptr || HasEnded(*message.work)) return;
  inner_.Abort(kDropped);
  comm_->Abort();
}

}  // namespace torus::parallel
