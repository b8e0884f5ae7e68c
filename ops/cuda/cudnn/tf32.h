// Whether products of f32 may be rounded to TF32.
#pragma once

namespace torus::cuda {

inline bool AllowsTf32() { return false; }

}  // namespace torus::cuda
