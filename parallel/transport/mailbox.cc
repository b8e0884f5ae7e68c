#include "parallel/transport/mailbox.h"

#include <algorithm>

namespace torus::parallel {

void Mailbox::Post(const std::shared_ptr<Message>& message) {
  const auto it = waiting_.find(KeyOf(*message, !message->sends));
  if (it == waiting_.end()) {
    waiting_[KeyOf(*message, message->sends)].push_back(message);
    return;
  }
  const std::shared_ptr<Message> other = it->second.front();
  it->second.pop_front();
  if (it->second.empty()) waiting_.erase(it);
  if (other->withdrawn) return;
  message->match = other;
  other->match = message;
}

void Mailbox::Withdraw(const std::shared_ptr<Message>& message) {
  if (message->match) {
    message->match->match.reset();
    message->match.reset();
    return;
  }
  message->withdrawn = true;
}

}  // namespace torus::parallel
