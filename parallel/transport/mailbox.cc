#include "parallel/transport/mailbox.h"

#include <algorithm>

namespace torus::parallel {

void Mailbox::Post(const std::shared_ptr<Message>& message) {
  const auto it = waiting_.find(KeyOf(*message, !message->sends));
  if (it == waiting_.end()) {
    waiting_[KeyOf(*message, message->sends)].push_back(message);
    return;
  }
  message->match = it->second.front();
  message->match->match = message;
  it->second.pop_front();
  if (it->second.empty()) waiting_.erase(it);
}

void Mailbox::Withdraw(const std::shared_ptr<Message>& message) {
  if (message->match) {
    message->match->match.reset();
    message->match.reset();
    return;
  }
  const auto it = waiting_.find(KeyOf(*message, message->sends));
  if (it == waiting_.end()) return;
  std::erase(it->second, message);
  if (it->second.empty()) waiting_.erase(it);
}

}  // namespace torus::parallel
