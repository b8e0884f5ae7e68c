#include "parallel/codec/factors.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

using Row = std::array<double, kMostRank>;  // of a factor

// Rows whose products with a row of `width` are worth waking a thread for.
int64_t GrainOf(int64_t width) {
  return std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, width));
}

void Store(const Row& sums, int64_t rank, float* out) {
  for (int64_t r = 0; r < rank; ++r) out[r] = static_cast<float>(sums[r]);
}

// The dot product of columns a and b.
double Dot(std::span<const float> p, int64_t rows, int64_t rank, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i) sum += double{p[i * rank + a]} * p[i * rank + b];
  return sum;
}

void Project(std::span<float> p, int64_t rows, int64_t rank, int64_t column) {
  for (int64_t before = 0; before < column; ++before) {
    const double share = Dot(p, rows, rank, before, column);
    for (int64_t i = 0; i < rows; ++i)
      p[i * rank + column] =
          static_cast<float>(p[i * rank + column] - share * p[i * rank + before]);
  }
}

void Scale(std::span<float> p, int64_t rows, int64_t rank, int64_t column, double factor) {
  for (int64_t i = 0; i < rows; ++i)
    p[i * rank + column] = static_cast<float>(p[i * rank + column] * factor);
}

using Square = Eigen::MatrixXd;

// The eigenvectors of M^T M (or M M^T) with the greatest eigenvalues, the greatest first, as rows x
// rank.
void LeadingVectors(const Square& gram, int64_t rank, std::span<float> out) {
  const Eigen::SelfAdjointEigenSolver<Square> solver(gram);
  const int64_t size = gram.rows();
  for (int64_t i = 0; i < size; ++i)
    for (int64_t r = 0; r < rank; ++r)
      out[i * rank + r] = static_cast<float>(solver.eigenvectors()(i, size - 1 - r));
}

// Element (a, b) is the dot product of columns (or rows) a and b of M.
Square GramOf(std::span<const float> matrix, MatrixForm form, bool of_columns) {
  const int64_t size = of_columns ? form.columns : form.rows;
  Square gram = Square::Zero(size, size);
  if (!of_columns) {
    ParallelFor(size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t a = begin; a < end; ++a)
        for (int64_t b = 0; b <= a; ++b) {
          const float *x = &matrix[a * form.columns], *y = &matrix[b * form.columns];
          double sum = 0;
          for (int64_t j = 0; j < form.columns; ++j) sum += double{x[j]} * y[j];
          gram(a, b) = gram(b, a) = sum;
        }
    });
    return gram;
  }
  ParallelFor(size, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < form.rows; ++i) {
      const float* const row = &matrix[i * form.columns];
      for (int64_t b = begin; b < end; ++b)
        for (int64_t a = 0; a < size; ++a) gram(a, b) += double{row[a]} * row[b];
    }
  });
  return gram;
}

}  // namespace

void TimesRight(std::span<const float> matrix, MatrixForm form, std::span<const float> q,
                int64_t rank, std::span<float> p) {
  ParallelFor(form.rows, GrainOf(form.columns * rank), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Row sums{};
      const float* const row = &matrix[i * form.columns];
      for (int64_t j = 0; j < form.columns; ++j)
        for (int64_t r = 0; r < rank; ++r) sums[r] += double{row[j]} * q[j * rank + r];
      Store(sums, rank, &p[i * rank]);
    }
  });
}

void TimesLeft(std::span<const float> matrix, MatrixForm form, std::span<const float> p,
               int64_t rank, std::span<float> q) {
  ParallelFor(form.columns, GrainOf(form.rows * rank), [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>((end - begin) * rank));
    for (int64_t i = 0; i < form.rows; ++i) {
      const float* const row = &matrix[i * form.columns];
      for (int64_t j = begin; j < end; ++j)
        for (int64_t r = 0; r < rank; ++r)
          sums[(j - begin) * rank + r] += double{row[j]} * p[i * rank + r];
    }
    for (size_t k = 0; k < sums.size(); ++k) q[begin * rank + k] = static_cast<float>(sums[k]);
  });
}

void Expand(std::span<const float> p, std::span<const float> q, MatrixForm form, int64_t rank,
            std::span<float> out) {
  ParallelFor(form.rows, GrainOf(form.columns * rank), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < form.columns; ++j) {
        double sum = 0;
        for (int64_t r = 0; r < rank; ++r) sum += double{p[i * rank + r]} * q[j * rank + r];
        out[i * form.columns + j] = static_cast<float>(sum);
      }
  });
}

void Orthonormalise(std::span<float> p, int64_t rows, int64_t rank) {
  constexpr double kSpanned = 1e-6;  // relative to the column's length: rounding noise
  for (int64_t column = 0; column < rank; ++column) {
    const double before = std::sqrt(Dot(p, rows, rank, column, column));
    Scale(p, rows, rank, column, before > 0 ? 1 / before : 0);
    Project(p, rows, rank, column);
    const double left = std::sqrt(Dot(p, rows, rank, column, column));
    Scale(p, rows, rank, column, left > kSpanned ? 1 / left : 0);
    Project(p, rows, rank, column);
  }
}

void NearestFactors(std::span<const float> matrix, MatrixForm form, int64_t rank,
                    std::span<float> p, std::span<float> q) {
  const bool of_columns = form.columns <= form.rows;
  LeadingVectors(GramOf(matrix, form, of_columns), rank, of_columns ? q : p);
  if (of_columns)
    TimesRight(matrix, form, q, rank, p);
  else
    TimesLeft(matrix, form, p, rank, q);
}

}  // namespace torus::parallel
