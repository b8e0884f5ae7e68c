#include "parallel/schedule/fit.h"

#include <algorithm>
#include <cmath>

#include "parallel/schedule/simulator.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Point = std::vector<double>;  // the natural logarithm of each factor

constexpr double kReach = 20.7;    // ln 1e9
constexpr double kGrid = 1.38;     // ln 4: between the grid's points
constexpr double kFinest = 1e-10;  // step at which the search ends

class Fitter {
 public:
  Fitter(const Schedule& schedule, const CostModel& costs, const std::vector<FreeCosts>& free,
         const std::vector<MeasuredRun>& runs)
      : schedule_(schedule), costs_(costs), free_(free), runs_(runs) {}

  CostModel Run() {
    Point best(free_.size(), 0);
    double least = Error(best);
    Point point(free_.size());
    SearchGrid(point, 0, best, least);
    for (double step = kGrid; step > kFinest;)
      if (!Improve(best, least, step)) step /= 2;
    return Scaled(best);
  }

 private:
  CostModel Scaled(const Point& point) const {
    CostModel costs = costs_;
    for (size_t i = 0; i < free_.size(); ++i)
      for (const CostList* kind : free_[i])
        for (double& cost : costs.*kind->list) cost *= std::exp(point[i]);
    return costs;
  }

  double Error(const Point& point) const {
    CostModel costs = Scaled(point);
    double sum = 0;
    for (const MeasuredRun& run : runs_) {
      costs.links = run.links;
      const double ratio = std::log(Simulate(schedule_, costs).makespan / run.seconds);
      sum += ratio * ratio;
    }
    return sum;
  }

  bool Take(const Point& point, Point& best, double& least) const {
    const double error = Error(point);
    if (!(error < least)) return false;
    least = error, best = point;
    return true;
  }

  void SearchGrid(Point& point, size_t i, Point& best, double& least) const {
    if (i == point.size()) return static_cast<void>(Take(point, best, least));
    for (point[i] = -kReach; point[i] <= kReach; point[i] += kGrid)
      SearchGrid(point, i + 1, best, least);
  }

  // Tries a step along each axis and, of two, each diagonal, where a valley may lie.
  bool Improve(Point& best, double& least, double step) const {
    const Point from = best;
    const bool two = from.size() == 2;
    bool improved = false;
    for (const int a : {-1, 0, 1}) {
      for (const int b : {-1, 0, 1}) {
        if ((a == 0 && b == 0) || (!two && b != 0)) continue;
        Point point = from;
        point[0] = std::clamp(point[0] + a * step, -kReach, kReach);
        if (two) point[1] = std::clamp(point[1] + b * step, -kReach, kReach);
        improved |= Take(point, best, least);
      }
    }
    return improved;
  }

  const Schedule& schedule_;
  const CostModel& costs_;
  const std::vector<FreeCosts>& free_;
  const std::vector<MeasuredRun>& runs_;
};

bool HasSome(const std::vector<double>& list) {
  return std::ranges::any_of(list, [](double cost) { return cost > 0; });
}

}  // namespace

CostModel FitCosts(const Schedule& schedule, const CostModel& costs,
                   const std::vector<FreeCosts>& free, const std::vector<MeasuredRun>& runs) {
  Require(free.size() == 1 || free.size() == 2, "fit", "takes one or two free factors, got {}",
          free.size());
  Require(runs.size() >= free.size(), "fit",
          "needs as many measured runs as free factors, {}, got {}", free.size(), runs.size());
  for (const FreeCosts& lists : free)
    for (const CostList* kind : lists)
      Require(HasSome(costs.*kind->list), "fit",
              "needs a cost \"{}\" above 0 to begin from, got none", kind->name);
  for (const MeasuredRun& run : runs)
    Require(std::isfinite(run.seconds) && run.seconds > 0, "fit",
            "measured seconds must be above 0, got {}", run.seconds);
  return Fitter(schedule, costs, free, runs).Run();
}

}  // namespace torus::parallel
