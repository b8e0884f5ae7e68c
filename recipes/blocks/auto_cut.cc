#include "recipes/blocks/auto_cut.h"

#include <charconv>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

constexpr std::string_view kAuto = "auto";

}  // namespace

bool IsAutoCut(std::string_view cut) { return cut.starts_with(kAuto); }

double CountedRate(std::string_view cut) {
  if (cut == kAuto) return 0;
  const std::string_view rate = cut.substr(kAuto.size());
  double value = 0;
  const char* const end = rate.data() + rate.size();
  const auto [unit, error] =
      std::from_chars(rate.data() + (rate.starts_with(':') ? 1 : 0), end, value);
  const std::string_view name(unit, end - unit);
  Require(rate.starts_with(':') && error == std::errc() && value > 0 && value < 1e12 &&
              (name == "GFLOPS" || name == "TFLOPS"),
          "cut", "needs auto, or auto and a rank's speed as in auto:50GFLOPS, got \"{}\"", cut);
  return value * (name == "GFLOPS" ? 1e9 : 1e12);
}

}  // namespace torus::recipes
