// The arguments of the strategies that exchange weights: the H of "local-sgd:H", H, outer rate and
// outer momentum of "diloco:H:RATE:MOMENTUM", the graph of "gossip:GRAPH".
#pragma once

#include <cstdint>
#include <string_view>

namespace torus::parallel {

struct RoundOptions {
  int64_t steps = 1;  // of a round: H
  // Of the outer optimizer; the defaults are those of Douillard et al. 2023.
  double outer_rate = 0.7, outer_momentum = 0.9;
};

// Whose weights a replica mixes with its own (gossip.h).
enum class GossipGraph : uint8_t { kRing, kExponential, kRandom };

// "diloco" of "diloco:8", and "8"; all of it and nothing if there is no colon.
std::string_view NameOfStrategy(std::string_view text);
std::string_view ArgumentsOfStrategy(std::string_view text);

// Throw BadInput, with what is possible, if the whole text of a strategy has other arguments.
RoundOptions ParseLocalSgd(std::string_view text);  // "local-sgd:8"
RoundOptions ParseDiloco(std::string_view text);  // "diloco:8", "diloco:8:0.7", "diloco:8:0.7:0.9"
GossipGraph ParseGossip(std::string_view text);   // "gossip:ring", ...

}  // namespace torus::parallel
