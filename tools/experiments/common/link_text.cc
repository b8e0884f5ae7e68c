#include "tools/experiments/common/link_text.h"

#include <fmt/format.h>

namespace torus::experiments {

std::string LinkText(double latency, double bits, double window) {
  const std::string link = fmt::format("{:.6g}us,{:.6g}Mbps", 1e6 * latency, 1e-6 * bits);
  return window > 0 ? fmt::format("{},window={:.0f}B", link, window) : link;
}

}  // namespace torus::experiments
