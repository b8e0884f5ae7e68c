#include "tools/replay/gradient_scale.h"

#include <algorithm>

#include "tools/replay/compare.h"

namespace torus::replay {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double MedianExcess(const std::map<std::string, Tensor>& got,
                    const std::map<std::string, Tensor>& want) {
  double longest = 0;
  for (const auto& [name, tensor] : want) longest = std::max(longest, Norm(tensor));
  std::vector<double> excess;
  for (const auto& [name, tensor] : want) {
    const double norm = Norm(tensor);
    const auto found = got.find(name);
    if (norm == 0 || norm < longest / 1000 || found == got.end()) continue;
    if (found->second.defined() && found->second.shape() == tensor.shape())
      excess.push_back(Dot(found->second, tensor) / (norm * norm) - 1);
  }
  return Median(std::move(excess));
}

}  // namespace torus::replay
