// Names of messages between two ranks.
#pragma once

#include <cstdint>
#include <string>

namespace torus::parallel {

// What a message is for. Bytes are counted apart for each.
enum class TagClass : uint8_t { kControl, kActivation, kGradient, kCollective, kUser };
inline constexpr int kTagClasses = 5;

// Messages of one sender, receiver and tag arrive in the order they were sent; those of different
// tags may be received in any order. `number` stays below 2^24, so that class and number fit the
// tag of an MPI message.
struct Tag {
  TagClass kind = TagClass::kUser;
  int32_t number = 0;
  friend bool operator==(const Tag&, const Tag&) = default;
};

// "activation", ...
std::string ToString(TagClass kind);
// "activation/12"
std::string ToString(Tag tag);

}  // namespace torus::parallel
