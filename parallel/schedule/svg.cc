#include "parallel/schedule/svg.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "parallel/schedule/printer.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr size_t kMostActions = 1 << 16;

// Pixels.
constexpr double kLabels = 72, kBars = 1016, kRight = 16, kTop = 92;
constexpr double kLane = 28, kStrip = 6, kGap = 12;
constexpr double kWidth = kLabels + kBars + kRight, kRow = kLane + 2 * kStrip + kGap;

struct Look {
  const char* css;  // class
  const char* name;
};

constexpr Look kTransfer{"x", "transfer"};

Look LookOf(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return {"f", "forward"};
    case ActionKind::kBackward:
      return {"b", "backward"};
    case ActionKind::kBackwardInput:
      return {"i", "backward, inputs"};
    case ActionKind::kBackwardWeight:
      return {"w", "backward, weights"};
    case ActionKind::kReduce:
      return {"r", "all-reduce"};
    case ActionKind::kStep:
      return {"s", "optimizer"};
    default:
      return kTransfer;
  }
}

constexpr const char* kStyle =
    R"(<style>
:root { --page: #ffffff; --ink: #16191f; --soft: #5b6472; --line: #dfe3e9; --lane: #edf0f4;
  --f: #2f6fde; --b: #d97706; --i: #c2410c; --w: #4d7c0f; --r: #0f766e; --s: #64748b; --x: #9333ea;
  --on: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --page: #101318; --ink: #e8ebf0; --soft: #98a2b1;
  --line: #2a303a; --lane: #20252d; --f: #6ba5ff; --b: #f2ab3c; --i: #fb8a5c; --w: #a3cf5c;
  --r: #38c2b2; --s: #a9b6c6; --x: #c19bff; --on: #0d1014; } }
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft); }
.title { font-size: 16px; font-weight: 600; fill: var(--ink); }
.rank { fill: var(--ink); } .end { text-anchor: end; } .mid { text-anchor: middle; }
.cell { font-size: 11px; font-weight: 600; fill: var(--on); text-anchor: middle; pointer-events: none; }
.page { fill: var(--page); } .lane { fill: var(--lane); } .tick { stroke: var(--line); }
.f { fill: var(--f); } .b { fill: var(--b); } .i { fill: var(--i); } .w { fill: var(--w); }
.r { fill: var(--r); } .s { fill: var(--s); } .x { fill: var(--x); }
.bar { stroke: var(--page); stroke-width: .6; } .x.bar { fill-opacity: .55; stroke: none; }
.late { fill: var(--page); fill-opacity: .28; pointer-events: none; }
</style>
)";

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// The step between ticks: 1, 2 or 5 times a power of ten, so that `all` has about six ticks.
double TickOf(double all) {
  const double rough = all / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= rough) return step * power;
  return 10 * power;
}

class Picture {
 public:
  Picture(const Schedule& schedule, const Simulation& simulation)
      : schedule_(schedule), simulation_(simulation), span_(simulation.makespan) {
    for (const Transfer& transfer : simulation.transfers) span_ = std::max(span_, transfer.arrival);
    if (span_ <= 0) span_ = 1;
  }

  std::string Run() {
    const double bottom = kTop + kRow * schedule_.num_ranks;
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\">\n{2}<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n",
        kWidth, bottom + 28, kStyle);
    Head();
    Ticks(bottom);
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) Row(rank);
    for (const Transfer& transfer : simulation_.transfers) Message(transfer);
    return text_ + "</svg>\n";
  }

 private:
  double X(double time) const { return kLabels + kBars * time / span_; }
  static double LaneTop(int rank) { return kTop + kRow * rank + kStrip; }

  void Text(const char* css, double x, double y, const std::string& text) {
    text_ += fmt::format("<text class=\"{}\" x=\"{:.5g}\" y=\"{:.5g}\">{}</text>\n", css, x, y,
                         Escaped(text));
  }

  // `about` is the tooltip.
  void Bar(const char* css, double begin, double end, double y, double height,
           const std::string& about) {
    text_ += fmt::format(
        "<rect class=\"{} bar\" x=\"{:.6g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{}\">"
        "<title>{}</title></rect>\n",
        css, X(begin), y, X(end) - X(begin), height, Escaped(about));
  }

  void Head() {
    Text("title", kLabels, 28,
         fmt::format("{}: {} ranks, {} stages, {} micro-batches", schedule_.name,
                     schedule_.num_ranks, schedule_.num_stages, schedule_.num_micro_batches));
    Text("", kLabels, 48,
         fmt::format("{:.5g} s, of which {:.1f} % idle", simulation_.makespan,
                     100 * simulation_.bubble));
    double x = kLabels;
    const auto entry = [&](const Look& look) {
      text_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"62\" width=\"11\" height=\"11\"/>\n",
                           look.css, x);
      Text("", x + 16, 72, look.name);
      x += 34 + 6.6 * static_cast<double>(std::string(look.name).size());
    };
    for (const ActionKind kind :
         {ActionKind::kForward, ActionKind::kBackward, ActionKind::kBackwardInput,
          ActionKind::kBackwardWeight, ActionKind::kReduce, ActionKind::kStep})
      if (Occurs(kind)) entry(LookOf(kind));
    if (!simulation_.transfers.empty()) entry(kTransfer);
    if (schedule_.num_stages > schedule_.num_ranks)
      Text("", x, 72, "(paler from above: later stages of a rank)");
  }

  bool Occurs(ActionKind kind) const {
    return std::ranges::any_of(simulation_.ranks, [kind](const std::vector<TimedAction>& actions) {
      return std::ranges::any_of(actions,
                                 [kind](const TimedAction& t) { return t.action.kind == kind; });
    });
  }

  void Ticks(double bottom) {
    const double step = TickOf(span_);
    for (int i = 0; i * step <= span_ * (1 + 1e-9); ++i) {
      text_ += fmt::format(
          "<line class=\"tick\" x1=\"{0:.6g}\" x2=\"{0:.6g}\" y1=\"{1}\" y2=\"{2}\"/>\n",
          X(i * step), kTop - 4, bottom);
      Text("mid", X(i * step), bottom + 16, fmt::format("{:.6g} s", i * step));
    }
  }

  void Row(int rank) {
    const double y = LaneTop(rank);
    text_ += fmt::format("<rect class=\"lane\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                         kLabels, y, kBars, kLane);
    Text("rank end", kLabels - 10, y + 18, fmt::format("rank {}", rank));
    for (const TimedAction& timed : simulation_.ranks[rank]) Cell(timed, y);
  }

  void Cell(const TimedAction& timed, double y) {
    const Action& action = timed.action;
    const double width = X(timed.end) - X(timed.begin);
    Bar(LookOf(action.kind).css, timed.begin, timed.end, y, kLane,
        fmt::format("{}, {:.6g} to {:.6g} s", ToString(action), timed.begin, timed.end));
    // An overlay marks the rank's second and later stages: the later the stage, the taller.
    if (const int chunk = action.stage / schedule_.num_ranks; chunk > 0)
      text_ += fmt::format(
          "<rect class=\"late\" x=\"{:.6g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{:.4g}\"/>\n",
          X(timed.begin), y, width, kLane * chunk * schedule_.num_ranks / schedule_.num_stages);
    const std::string number = action.micro_batch < 0 ? "" : std::to_string(action.micro_batch);
    if (!number.empty() && width >= 4 + 7 * static_cast<double>(number.size()))
      Text("cell", X((timed.begin + timed.end) / 2), y + 18, number);
  }

  void Message(const Transfer& t) {
    const double y = t.activation ? LaneTop(t.from) + kLane + 1 : LaneTop(t.from) - kStrip;
    Bar(kTransfer.css, t.begin, t.arrival, y, kStrip - 1,
        fmt::format("{} of micro-batch {} from rank {} to rank {}, {:.6g} to {:.6g} s",
                    t.activation ? "activation" : "gradient", t.micro_batch, t.from, t.to, t.begin,
                    t.arrival));
  }

  const Schedule& schedule_;
  const Simulation& simulation_;
  double span_;  // seconds that the picture's width shows
  std::string text_;
};

}  // namespace

std::string ToSvg(const Schedule& schedule, const Simulation& simulation) {
  size_t actions = 0;
  for (const std::vector<TimedAction>& list : simulation.ranks) actions += list.size();
  Require(actions <= kMostActions, "schedule", "a picture shows at most {} actions, got {}",
          kMostActions, actions);
  return Picture(schedule, simulation).Run();
}

}  // namespace torus::parallel
