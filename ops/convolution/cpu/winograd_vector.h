// The five transforms of Winograd's F(4 x 4, 3 x 3), one tile at a time over channels-last data
// (Lavin & Gray 2016, "Fast algorithms for convolutional neural networks", section 4.1).
//
// With Y, X, W a 4 x 4 output tile, its 6 x 6 input tile and a 3 x 3 filter of one channel pair,
//   Y = A^T [(G W G^T) . (B^T X B)] A.
// The matrices come from polynomial products at the points 0, +-5/8, +-3/2 and infinity. With these
// a float result has five times the error of a plain sum, and with the paper's points (0, +-1, +-2)
// eleven times; small dyadic fractions also keep the matrices exact. A "spectrum" is 36 numbers per
// channel; number p is at spectrum + p * stride, with adjacent channels.
#pragma once

#include <cstdint>

namespace torus::cpu {

inline constexpr int kWinogradTile = 4, kWinogradPatch = 6, kWinogradPoints = 36;

// B^T X B. `pixels` are the 36 pixels of the patch, row by row, each with `channels` floats.
void WinogradInput(const float* const* pixels, int64_t channels, int64_t stride, float* spectrum);

// max(low, A^T M A + bias); `bias` may be null. Writes the tile's 16 pixels.
void WinogradOutput(const float* spectrum, int64_t channels, int64_t stride, const float* bias,
                    float low, float* const* pixels);

// A dY A^T, the transpose of WinogradOutput. Reads 16 pixels.
void WinogradOutputGradient(const float* const* pixels, int64_t channels, int64_t stride,
                            float* spectrum);

// G W G^T of a filter (3, 3, channels), rotated by 180 degrees with `flip`.
void WinogradWeight(const float* weight, bool flip, int64_t channels, int64_t stride,
                    float* spectrum);

// G^T dW^ G, the transpose of WinogradWeight without flip.
void WinogradWeightGradient(const float* spectrum, int64_t channels, int64_t stride, float* weight);

}  // namespace torus::cpu
