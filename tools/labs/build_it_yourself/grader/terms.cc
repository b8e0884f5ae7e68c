#include "tools/labs/build_it_yourself/grader/terms.h"

#include <fmt/format.h>

namespace torus::tools::labs {

std::string WrongTerms(float got, int s, int ranks, const std::function<int(int rank)>& wanted) {
  const double terms = static_cast<double>(got) / s;
  if (terms != std::floor(terms) || terms < 0 || terms >= 1e15)
    return "this is no mean of terms of this element: is it another's?";
  std::string text;
  int64_t left = static_cast<int64_t>(terms);
  for (int rank = 0; rank < ranks; ++rank, left /= 4)
    if (left % 4 != wanted(rank)) text += fmt::format(", {} times that of rank {}", left % 4, rank);
  if (left != 0 || text.empty()) return "this is no mean of terms of this element";
  return "of the ranks' terms it has" + text.substr(1);
}

}  // namespace torus::tools::labs
