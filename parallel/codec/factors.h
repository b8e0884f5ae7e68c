// The two ways to factors of low rank: low_rank.h. Sums are in an order that no team changes.
#pragma once

#include <span>

#include "parallel/codec/matrix_form.h"

namespace torus::parallel {

// p = M q: `p` of rows x rank, `q` of columns x rank. On the calling thread's team, as all below.
void TimesRight(std::span<const float> matrix, MatrixForm form, std::span<const float> q,
                int64_t rank, std::span<float> p);
// q = M^T p.
void TimesLeft(std::span<const float> matrix, MatrixForm form, std::span<const float> p,
               int64_t rank, std::span<float> q);
// out = p q^T.
void Expand(std::span<const float> p, std::span<const float> q, MatrixForm form, int64_t rank,
            std::span<float> out);

// Makes the columns of `p`, rows x rank, orthonormal (Gram-Schmidt, twice, in float64); a column
// that the others before it already span becomes 0.
void Orthonormalise(std::span<float> p, int64_t rows, int64_t rank);

// The factors of the nearest matrix of that rank.
void NearestFactors(std::span<const float> matrix, MatrixForm form, int64_t rank,
                    std::span<float> p, std::span<float> q);

}  // namespace torus::parallel
