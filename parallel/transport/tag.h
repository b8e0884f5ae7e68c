// Names of messages between two ranks.
#pragma once

#include <cstdint>
#include <string>

namespace torus::parallel {

// What a message is for. Traffic is counted for each of these.
enum class TagClass : uint8_t { kControl, kActivation, kGradient, kCollective, kUser };
inline constexpr int kTagClasses = 5;

// Messages with the same sender, receiver and tag arrive in the order in which they were sent;
// those with different tags may be received in any order. `number` stays below 2^24, so that all
// three fit the tag of an MPI message.
struct Tag {
  TagClass kind = TagClass::kUser;
  int32_t number = 0;
  bool stamp =
      false;  // of the message that EmulatedLink sends beside another of this class and number
  friend bool operator==(const Tag&, const Tag&) = default;
};

// "activation", ...
std::string ToString(TagClass kind);
// "activation/12"
std::string ToString(Tag tag);

}  // namespace torus::parallel
