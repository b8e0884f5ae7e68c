// Tags: names of messages between two ranks.
#pragma once

#include <cstdint>
#include <string>

namespace torus::parallel {

// What a message is for. Traffic is counted per class.
enum class TagClass : uint8_t { kControl, kActivation, kGradient, kCollective, kUser };
inline constexpr int kTagClasses = 5;  // their number

// Messages with the same sender, receiver and tag arrive in the order in which they were sent;
// those with different tags may be received in any order. `number` is below 2^24; the highest
// control numbers belong to the transports (members.h, nccl/announcement.h).
struct Tag {
  TagClass kind = TagClass::kUser;  // what the message is for
  int32_t number = 0;
  bool stamp = false;  // EmulatedLink's time stamp of the message of this class and number
  friend bool operator==(const Tag&, const Tag&) = default;
};

// "activation", ...
std::string ToString(TagClass kind);
// "activation/12"
std::string ToString(Tag tag);

}  // namespace torus::parallel
