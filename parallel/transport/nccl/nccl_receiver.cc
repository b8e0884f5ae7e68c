#include "parallel/transport/nccl/nccl_receiver.h"

#include <algorithm>
#include <utility>

#include "parallel/transport/nccl/control_wait.h"
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
  std::shared_ptr<NcclLaunch> launch;
};

struct NcclReceiver::Message {
  TransferText text;
  Buffer buffer;
  std::shared_ptr<NcclLaunch> launch;  // once its turn has been asked for
  std::shared_ptr<Held> held;          // what it is copied from
  std::unique_ptr<NcclWork> copy;      // if it is held: once the launch is in its stream
  std::string error;
  bool dropped = false;  // it keeps its place in the order
  bool started() const { return launch != nullptr || !error.empty(); }
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
    receiver_.launches_.WaitUntilLaunched(*message_->launch);
    receiver_.WorkOf(*message_).Precede(stream);
    receiver_.KeepUntilEnded(std::exchange(message_, nullptr));
    return time;
  }

  bool Done() override {
    receiver_.TakeAnnouncements();
    receiver_.StartThoseAskedFor();
    ThrowError();
    return receiver_.Ended(*message_);
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

NcclReceiver::NcclReceiver(Transport& inner, NcclLibrary& library, NcclLaunches& launches,
                           const NcclLink& link, Device device)
    : inner_(inner), library_(library), launches_(launches), link_(link), device_(device) {
  Listen();
}

NcclReceiver::~NcclReceiver() = default;

// What the launched message is known by: itself, or the copy of what was held.
NcclWork& NcclReceiver::WorkOf(Message& message) {
  if (message.held == nullptr) return message.launch->work();
  if (message.copy == nullptr && !message.dropped)
    message.copy =
        library_.Copy(message.buffer, message.held->memory.data(), message.launch->work());
  return message.copy != nullptr ? *message.copy : message.launch->work();
}

bool NcclReceiver::Ended(Message& message) {
  return message.launch != nullptr && message.launch->launched() && WorkOf(message).Done();
}

WaitTime NcclReceiver::WaitForEnd(Message& message) {
  launches_.WaitUntilLaunched(*message.launch);
  return launches_.WaitForEnd(*message.launch, WorkOf(message));
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
  listening_ = inner_.Recv(link_.peer, kAnnouncementTag, {&next_, sizeof next_}, "announcement");
}

Pending NcclReceiver::Recv(Tag tag, Buffer buffer, std::string what) {
  auto message = std::make_shared<Message>();
  message->buffer = buffer;
  message->text = {false, inner_.rank(), link_.peer, tag, buffer.bytes, std::move(what)};
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
      held_.push_back(Hold(announced_.front(), message->text));
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
  if (message.dropped) return KeepUntilEnded(Hold(announcement, message.text), message.text);
  if (announcement.bytes != message.buffer.bytes) {
    const TransferText send{
        true, link_.peer, inner_.rank(), announcement.tag(), announcement.bytes, announcement.what};
    message.error = SizesDifferText(send, message.text);
    return;
  }
  message.launch = Put(message.buffer, message.text);
}

std::shared_ptr<NcclLaunch> NcclReceiver::Put(const Buffer& buffer, const TransferText& text) {
  const Turn turn{link_.communicator, link_.peer, taken_count_++};
  auto launch = launches_.Put(turn, buffer.stream, WaitingText(text),
                              [=, this](NcclComm& comm, NcclWork& after) {
                                return comm.Recv(buffer, link_.peer_member, after);
                              });
  Answer();
  return launch;
}

std::shared_ptr<NcclReceiver::Held> NcclReceiver::Hold(const Announcement& announcement,
                                                       const TransferText& text) {
  auto held = std::make_shared<Held>(announcement, device_);
  held->launch =
      Put({held->memory.data(), announcement.bytes, device_, CurrentStream(device_)}, text);
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
    message.error = SizesDifferText(
        {true, link_.peer, inner_.rank(), head.tag(), head.bytes, head.what}, message.text);
    KeepUntilEnded(held, message.text);
    return true;
  }
  message.launch = held->launch;
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
  told_.push_back(inner_.Send(link_.peer, tag, {&kToken, 1}, "answer"));
}

void NcclReceiver::KeepUntilEnded(std::shared_ptr<Message> message) {
  on_streams_.push_back(std::move(message));
  while (!on_streams_.empty() && Ended(*on_streams_.front())) on_streams_.pop_front();
}

// For a message that nobody requests: its memory must stay until it has arrived.
void NcclReceiver::KeepUntilEnded(const std::shared_ptr<Held>& held, const TransferText& text) {
  auto message = std::make_shared<Message>();
  message->text = text;
  message->held = held;
  message->launch = held->launch;
  message->dropped = true;
  KeepUntilEnded(std::move(message));
}

void NcclReceiver::Drop(Message& message) noexcept try {
  message.dropped = true;
  if (message.launch != nullptr && !Ended(message)) launches_.Drop();
} catch (...) {
  launches_.Drop();
}

}  // namespace torus::parallel
