// The activations that are fused into the preceding op.
#pragma once

namespace torus::ops {

// The identity, max(x, 0), or min(max(x, 0), 6).
enum class Activation { kNone, kRelu, kRelu6 };

}  // namespace torus::ops
