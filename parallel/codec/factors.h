// The two ways to compute low-rank factors (low_rank.h). The order of sums does not depend on the
// thread team.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/codec/matrix_form.h"

namespace torus::parallel {

inline constexpr int64_t kMostRank = 64;

// p = M q: `p` is rows x rank, `q` is columns x rank. Runs on the calling thread's team, as all
// below.
void TimesRight(std::span<const float> matrix, MatrixForm form, std::span<const float> q,
                int64_t rank, std::span<float> p);
// q = M^T p.
void TimesLeft(std::span<const float> matrix, MatrixForm form, std::span<const float> p,
               int64_t rank, std::span<float> q);
// out = p q^T.
void Expand(std::span<const float> p, std::span<const float> q, MatrixForm form, int64_t rank,
            std::span<float> out);

// Makes the columns of `p`, rows x rank, orthonormal (Gram-Schmidt, twice, in float64). A column in
// the span of earlier ones becomes 0.
void Orthonormalise(std::span<float> p, int64_t rows, int64_t rank);

// The factors of the nearest matrix of that rank (truncated SVD).
void NearestFactors(std::span<const float> matrix, MatrixForm form, int64_t rank,
                    std::span<float> p, std::span<float> q);

}  // namespace torus::parallel
