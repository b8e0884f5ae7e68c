#include "parallel/transport/nccl/turns.h"

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "parallel/transport/nccl/announcement.h"

namespace torus::parallel {

Turns::Turns(Transport& inner) : inner_(inner) {
  for (int peer = 0; peer < inner.size(); ++peer)
    if (peer != inner.rank() && (peer == 0 || inner.rank() == 0)) Listen(peer);
}

Turns::~Turns() {
  try {
    Poll(finished_);
  } catch (const std::exception&) {
    // The run has been aborted.
  }
}

// A rank that has finished makes no progress and waits for nobody: who waits for it in vain may say
// so.
void Turns::Poll(Pending& pending) {
  while (!pending.Done()) {
    inner_.ThrowIfAborted();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  pending.Wait();
}

// Others may have asked for its turns before.
void Turns::Add(std::vector<int> members) {
  members_.push_back(std::move(members));
  std::vector<Turn> early;
  for (const auto& [turn, count] : asked_)
    if (turn.communicator + 1 == static_cast<int>(members_.size())) early.push_back(turn);
  for (const Turn& turn : early) GiveIfAllHaveAsked(turn);
}

void Turns::Listen(int peer) {
  Listening& listening = listening_[peer];
  listening.pending = inner_.Recv(peer, kTurnTag, {&listening.message, sizeof(Message)}, "turn");
}

void Turns::TakeMessages() {
  for (auto& [peer, listening] : listening_)
    while (listening.pending.Done()) {
      listening.pending.Wait();
      const Message message = listening.message;
      Listen(peer);
      Take(message);
    }
}

void Turns::Take(const Message& message) {
  if (message.progress) {
    progress_ = true;
    if (inner_.rank() == 0) TellProgress();
  } else if (inner_.rank() == 0) {
    Count(message.turn);
  } else {
    turns_.push_back(message.turn);
  }
}

void Turns::Ask(const Turn& turn) {
  if (inner_.rank() == 0)
    Count(turn);
  else
    Tell(0, {.turn = turn});
}

// On rank 0.
void Turns::Count(const Turn& turn) {
  ++asked_[turn];
  if (turn.communicator < static_cast<int>(members_.size())) GiveIfAllHaveAsked(turn);
}

void Turns::GiveIfAllHaveAsked(const Turn& turn) {
  const std::vector<int>& members = members_[turn.communicator];
  if (asked_[turn] < members.size()) return;
  asked_.erase(turn);
  for (const int member : members) {
    if (member == 0)
      turns_.push_back(turn);
    else
      Tell(member, {.turn = turn});
  }
}

std::optional<Turn> Turns::Next() {
  TakeMessages();
  if (turns_.empty()) return std::nullopt;
  const Turn next = turns_.front();
  turns_.pop_front();
  return next;
}

void Turns::TellProgress() {
  progress_ = true;
  for (const auto& [peer, listening] : listening_) Tell(peer, {.progress = true});
}

bool Turns::TakeProgress() {
  TakeMessages();
  return std::exchange(progress_, false);
}

// Nobody waits for it to be received.
void Turns::Tell(int peer, const Message& message) {
  std::deque<Told>& told = told_[peer];
  while (!told.empty() && told.front().pending.Done()) told.pop_front();
  Told& last = told.emplace_back(Told{message, {}});
  last.pending = inner_.Send(peer, kTurnTag, {&last.message, sizeof(Message)}, "turn");
}

void Turns::Finish() {
  static constexpr char kToken = 1;
  const std::string what = "end of all messages and sums by NCCL";
  Poll(finished_);
  if (inner_.rank() != 0) {
    finished_ = inner_.Send(0, kFinishedTag, {&kToken, 1}, what);
    return;
  }
  char token = 0;
  for (int peer = 1; peer < inner_.size(); ++peer) {
    Pending finished = inner_.Recv(peer, kFinishedTag, {&token, 1}, what);
    Poll(finished);
  }
}

}  // namespace torus::parallel
