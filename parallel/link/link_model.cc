#include "parallel/link/link_model.h"

#include <charconv>
#include <span>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr Unit kTimes[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kRates[] = {
    {"Kbps", 1e3 / 8}, {"Mbps", 1e6 / 8}, {"Gbps", 1e9 / 8}, {"bps", 1.0 / 8}};
constexpr Unit kSizes[] = {{"KB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}, {"B", 1}};

// A kind of part: its name, units and allowed range, in seconds, bytes or bytes per second.
struct Kind {
  const char* name;
  std::span<const Unit> units;
  double least, most;
  const char* range;
};

// Within these ranges no message time overflows or vanishes in rounding.
constexpr Kind kTime{"a time", kTimes, 0, 1e6, "from 0 to 1e6 s"};
constexpr Kind kRate{"a bandwidth", kRates, 1, 1e18, "from 8 to 8e18 bps"};
constexpr Kind kSize{"a window", kSizes, 1, 1e18, "from 1 to 1e18 B"};

// Parses `part` as a number and one of the units. `text` is the whole text, for errors.
double Quantity(std::string_view part, const Kind& kind, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  const std::string_view name = part.substr(end - part.data());
  for (const Unit& unit : kind.units)
    if (error == std::errc() && name == unit.name && value * unit.size >= kind.least &&
        value * unit.size <= kind.most)
      return value * unit.size;
  std::string names;
  for (const Unit& unit : kind.units) names.append(names.empty() ? "" : ", ").append(unit.name);
  Throw<BadInput>("--link", "{} must be a number and one of {}, {}, got \"{}\" in \"{}\"",
                  kind.name, names, kind.range, part, text);
}

// Removes the text before the first comma from `rest` and returns it.
std::string_view TakePart(std::string_view& rest) {
  const size_t comma = rest.find(',');
  const std::string_view part = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return part;
}

}  // namespace

LinkModel ParseLink(std::string_view text) {
  std::string_view rest = text;
  LinkModel link;
  link.latency = Quantity(TakePart(rest), kTime, text);
  link.bandwidth = Quantity(TakePart(rest), kRate, text);
  while (!rest.empty()) {
    std::string_view part = TakePart(rest);
    const std::string_view key = part.substr(0, part.find('=') + 1);
    part.remove_prefix(key.size());
    if (key == "window=")
      link.window = Quantity(part, kSize, text);
    else if (key == "jitter=")
      link.jitter = Quantity(part, kTime, text);
    else
      Throw<BadInput>("--link",
                      "\"{}\" needs LATENCY,BANDWIDTH and maybe window=BYTES, jitter=TIME, as "
                      "10ms,1Gbps,window=64KB",
                      text);
  }
  return link;
}

}  // namespace torus::parallel
