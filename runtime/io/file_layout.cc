#include "runtime/io/file_layout.h"

namespace torus {

Tensor ToFileLayout(const Tensor& ours) {
  return ours.rank() == 4 ? ours.Permute({0, 3, 1, 2}) : ours;
}

Tensor FromFileLayout(const Tensor& files) {
  return files.rank() == 4 ? files.Permute({0, 2, 3, 1}) : files;
}

Shape ToFileLayout(const Shape& ours) {
  return ours.rank() == 4 ? Shape{ours[0], ours[3], ours[1], ours[2]} : ours;
}

}  // namespace torus
