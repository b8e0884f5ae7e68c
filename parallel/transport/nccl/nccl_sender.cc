#include "parallel/transport/nccl/nccl_sender.h"

#include <utility>

#include "parallel/transport/nccl/announcement.h"
#include "parallel/transport/nccl/control_wait.h"

namespace torus::parallel {

struct NcclSender::Message {
  TransferText text;
  Announcement announcement;
  int64_t number = 0;  // number in the order of sends
  Pending announced;
  std::shared_ptr<NcclLaunch> launch;
};

class NcclSender::State : public Pending::State {
 public:
  State(NcclSender& sender, std::shared_ptr<Message> message)
      : sender_(sender), message_(std::move(message)) {}
  ~State() override {
    if (message_) sender_.Drop(*message_);
  }

  WaitTime Wait() override {
    WaitTime time = sender_.WaitForAnswer(*message_);
    time.moving = sender_.launches_.WaitForEnd(*message_->launch).moving;
    sender_.KeepUntilEnded(std::exchange(message_, nullptr));
    return time;
  }

  WaitTime WaitOn(StreamHandle stream) override {
    const WaitTime time = sender_.WaitForAnswer(*message_);
    sender_.launches_.WaitUntilLaunched(*message_->launch);
    message_->launch->work().Precede(stream);
    sender_.KeepUntilEnded(std::exchange(message_, nullptr));
    return time;
  }

  bool Done() override { return sender_.Ended(*message_); }

 private:
  NcclSender& sender_;
  std::shared_ptr<Message> message_;
};

NcclSender::NcclSender(Transport& inner, NcclLaunches& launches, const NcclLink& link)
    : inner_(inner), launches_(launches), link_(link) {}

NcclSender::~NcclSender() = default;

void NcclSender::Finish() {
  for (const auto& message : on_streams_) launches_.WaitForEnd(*message->launch);
}

void NcclSender::WaitForReceiver() {
  if (ended_ == answered_) return;
  ended_ = answered_;
  char token = 0;
  inner_.Recv(link_.peer, kEndedTag, {&token, 1}, "end of all messages by NCCL").Wait();
}

Pending NcclSender::Send(Tag tag, ConstBuffer buffer, std::string what) {
  auto message = std::make_shared<Message>();
  message->announcement = Announcement(tag, buffer.bytes, what);
  message->text = {true, inner_.rank(), link_.peer, tag, buffer.bytes, std::move(what)};
  {
    const std::lock_guard lock(mutex_);
    message->number = sent_++;
    message->announced =
        inner_.Send(link_.peer, kAnnouncementTag, {&message->announcement, sizeof(Announcement)},
                    "announcement");
    message->launch =
        launches_.Put({link_.communicator, inner_.rank(), message->number}, buffer.stream,
                      WaitingText(message->text), [=, this](NcclComm& comm, NcclWork& after) {
                        return comm.Send(buffer, link_.peer_member, after);
                      });
  }
  return Pending(std::make_unique<State>(*this, std::move(message)));
}

// Answers come in the order of the messages.
WaitTime NcclSender::WaitForAnswer(Message& message) {
  WaitTime time = WaitFor(message.announced, message.text);
  while (answered_ <= message.number) {
    Listen();
    time.blocked += WaitFor(*listening_, message.text).blocked;
    listening_.reset();
    ++answered_;
  }
  return time;
}

bool NcclSender::IsAnswered(const Message& message) {
  while (answered_ <= message.number) {
    Listen();
    if (!listening_->Done()) return false;
    listening_->Wait();
    listening_.reset();
    ++answered_;
  }
  return true;
}

void NcclSender::Listen() {
  if (!listening_) listening_ = inner_.Recv(link_.peer, kTakenTag, {&answer_, 1}, "answer");
}

uint64_t NcclSender::bytes_arrived(TagClass kind) {
  CountEnded();
  return arrived_[static_cast<size_t>(kind)];
}

bool NcclSender::Ended(Message& message) {
  return message.announced.Done() && IsAnswered(message) && message.launch->Done();
}

void NcclSender::KeepUntilEnded(std::shared_ptr<Message> message) {
  on_streams_.push_back(std::move(message));
  CountEnded();
}

// Messages end in the stream's order.
void NcclSender::CountEnded() {
  while (!on_streams_.empty() && Ended(*on_streams_.front())) {
    Message& message = *on_streams_.front();
    message.announced.Wait();
    arrived_[static_cast<size_t>(message.text.tag.kind)] += message.text.bytes;
    on_streams_.pop_front();
  }
}

void NcclSender::Drop(Message& message) noexcept {
  if (message.launch != nullptr && HasEnded(*message.launch)) return;
  launches_.Drop();
}

}  // namespace torus::parallel
