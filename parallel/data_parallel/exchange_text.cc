#include "parallel/data_parallel/exchange_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int64_t kMostSteps = int64_t{1} << 40;

struct GraphName {
  const char* name;
  GossipGraph graph;
};
constexpr GraphName kGraphs[] = {{"ring", GossipGraph::kRing},
                                 {"exponential", GossipGraph::kExponential},
                                 {"random", GossipGraph::kRandom}};

template <class T>
std::optional<T> NumberIn(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':')) {
    parts.push_back(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  parts.push_back(text);
  return parts;
}

int64_t StepsIn(std::string_view part, std::string_view text, const char* form) {
  const std::optional<int64_t> steps = NumberIn<int64_t>(part);
  Require(steps && *steps >= 1 && *steps <= kMostSteps, "strategy",
          "{} needs a whole number of steps H from 1 to {}, got \"{}\"", form, kMostSteps, text);
  return *steps;
}

double RateIn(std::string_view part, std::string_view text, const char* form) {
  const std::optional<double> rate = NumberIn<double>(part);
  Require(rate && std::isfinite(*rate) && *rate > 0, "strategy",
          "{} needs a finite outer rate above 0, got \"{}\"", form, text);
  return *rate;
}

double MomentumIn(std::string_view part, std::string_view text, const char* form) {
  const std::optional<double> momentum = NumberIn<double>(part);
  Require(momentum && *momentum >= 0 && *momentum < 1, "strategy",
          "{} needs an outer momentum from 0 to below 1, got \"{}\"", form, text);
  return *momentum;
}

}  // namespace

std::string_view NameOfStrategy(std::string_view text) { return text.substr(0, text.find(':')); }

std::string_view ArgumentsOfStrategy(std::string_view text) {
  const size_t colon = text.find(':');
  return colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
}

RoundOptions ParseLocalSgd(std::string_view text) {
  return {.steps = StepsIn(ArgumentsOfStrategy(text), text, "local-sgd:H")};
}

RoundOptions ParseDiloco(std::string_view text) {
  constexpr const char* kForm = "diloco:H[:RATE[:MOMENTUM]]";
  const std::vector<std::string_view> parts = Split(ArgumentsOfStrategy(text));
  Require(parts.size() <= 3, "strategy", "{} has at most three numbers, got \"{}\"", kForm, text);
  RoundOptions options{.steps = StepsIn(parts[0], text, kForm)};
  if (parts.size() > 1) options.outer_rate = RateIn(parts[1], text, kForm);
  if (parts.size() > 2) options.outer_momentum = MomentumIn(parts[2], text, kForm);
  return options;
}

GossipGraph ParseGossip(std::string_view text) {
  const auto* const found = std::ranges::find(kGraphs, ArgumentsOfStrategy(text), &GraphName::name);
  if (found != std::end(kGraphs)) return found->graph;
  std::vector<std::string> names;
  for (const GraphName& graph : kGraphs) names.emplace_back(graph.name);
  Throw<BadInput>("strategy", "gossip:GRAPH has no graph \"{}\"; there are: {}",
                  ArgumentsOfStrategy(text), fmt::join(names, ", "));
}

}  // namespace torus::parallel
