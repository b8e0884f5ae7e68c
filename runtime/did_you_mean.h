// Guesses which of several names a user meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus {

// How many letters must be added, removed or changed to turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// The names that `word` may stand for: those that contain it, the shortest first; else those at
// most two letters away, the nearest first. At most three.
std::vector<std::string> NamesLike(std::string_view word, const std::vector<std::string>& names);

// "; did you mean cifar10 or cifar100?" for the end of a message; empty if no name is like it.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& names);

}  // namespace torus
