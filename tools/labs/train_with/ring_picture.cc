#include "tools/labs/train_with/ring_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "recipes/report/units.h"

namespace torus::tools::labs {
namespace {

constexpr size_t kMostMessages = 2000;

// Pixels.
constexpr double kLabels = 64, kBars = 920, kRight = 24, kTop = 56;
constexpr double kLane = 20, kRow = 72;
constexpr double kWidth = kLabels + kBars + kRight;

constexpr const char* kStyle = R"(<style>
.ring text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--soft); }
.ring .rank { fill: var(--ink); text-anchor: end; }
.ring .mid { text-anchor: middle; }
.ring .tick { stroke: var(--line); }
.ring .sum { fill: var(--reduce); }
.ring .wait { fill: var(--idle); }
.ring .message { stroke: var(--transfer); stroke-width: 1.6; fill: none; }
.ring .dot { fill: var(--transfer); }
</style>
)";

// 1, 2 or 5 times a power of ten, so that `all` has some six of it.
double TickOf(double all) {
  const double rough = all / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= rough) return step * power;
  return 10 * power;
}

class Picture {
 public:
  explicit Picture(const SumTimes& times) : times_(times) {
    for (const RankSum& rank : times.ranks) span_ = std::max(span_, rank.end);
  }

  std::string Run() {
    const double bottom = Top(times_.ranks.size()) - kRow + kLane;
    text_ = fmt::format(
        "<svg class=\"ring\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
        "width=\"{0}\" height=\"{1}\">\n{2}",
        kWidth, bottom + 34, kStyle);
    Legend();
    Ticks(bottom);
    for (size_t rank = 0; rank < times_.ranks.size(); ++rank) Lane(rank);
    for (const MessageTime& message : Shown()) Wait(message);
    for (const MessageTime& message : Shown()) Line(message);
    return text_ + "</svg>\n";
  }

 private:
  std::span<const MessageTime> Shown() const {
    return std::span(times_.messages).first(std::min(times_.messages.size(), kMostMessages));
  }
  double X(double seconds) const { return kLabels + kBars * seconds / span_; }
  static double Top(size_t rank) { return kTop + kRow * static_cast<double>(rank); }
  static double Middle(int rank) { return Top(static_cast<size_t>(rank)) + kLane / 2; }

  void Text(const char* css, double x, double y, const std::string& text) {
    text_ +=
        fmt::format("<text class=\"{}\" x=\"{:.5g}\" y=\"{:.5g}\">{}</text>\n", css, x, y, text);
  }

  void Bar(const char* css, double begin, double end, double y, const std::string& about) {
    text_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.6g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{}\">"
        "<title>{}</title></rect>\n",
        css, X(begin), y, std::max(0.0, X(end) - X(begin)), kLane, about);
  }

  void Legend() {
    constexpr std::array<std::pair<const char*, const char*>, 3> kEntries{
        {{"sum", "sums"},
         {"wait", "waits for a message"},
         {"dot", "a message, from its sender's row to its receiver's"}}};
    double x = kLabels;
    for (const auto& [css, name] : kEntries) {
      text_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"16\" width=\"11\" height=\"11\"/>\n",
                           css, x);
      Text("", x + 16, 26, name);
      x += 36 + 6.4 * static_cast<double>(std::string_view(name).size());
    }
  }

  void Ticks(double bottom) {
    const double step = TickOf(span_);
    for (int i = 0; i * step <= span_ * (1 + 1e-9); ++i) {
      text_ += fmt::format(
          "<line class=\"tick\" x1=\"{0:.6g}\" x2=\"{0:.6g}\" y1=\"{1}\" y2=\"{2}\"/>\n",
          X(i * step), kTop - 8, bottom + 8);
      Text("mid", X(i * step), bottom + 24, fmt::format("{:.6g} ms", 1e3 * i * step));
    }
  }

  void Lane(size_t rank) {
    const RankSum& sum = times_.ranks[rank];
    Text("rank", kLabels - 10, Top(rank) + 15, fmt::format("rank {}", rank));
    Bar("sum", sum.begin, sum.end, Top(rank),
        fmt::format("rank {} sums for {}", rank, recipes::FormatSeconds(sum.end - sum.begin)));
  }

  void Wait(const MessageTime& m) {
    Bar("wait", m.waits_from, m.received, Top(static_cast<size_t>(m.to)),
        fmt::format("rank {} waits for rank {} and takes {} floats: {}", m.to, m.from, m.floats,
                    recipes::FormatSeconds(m.received - m.waits_from)));
  }

  void Line(const MessageTime& m) {
    text_ += fmt::format(
        "<line class=\"message\" x1=\"{:.6g}\" y1=\"{:.5g}\" x2=\"{:.6g}\" y2=\"{:.5g}\">"
        "<title>{} floats from rank {} to rank {}</title></line>\n"
        "<circle class=\"dot\" cx=\"{:.6g}\" cy=\"{:.5g}\" r=\"2.6\"/>\n",
        X(m.sent), Middle(m.from), X(m.received), Middle(m.to), m.floats, m.from, m.to,
        X(m.received), Middle(m.to));
  }

  const SumTimes& times_;
  double span_ = 1e-9;  // seconds that the picture's width shows
  std::string text_;
};

}  // namespace

std::string RingPicture(const SumTimes& times) { return Picture(times).Run(); }

std::string MessagesShown(const SumTimes& times) {
  const size_t all = times.messages.size();
  return all <= kMostMessages ? fmt::format("{} messages", all)
                              : fmt::format("the first {} of {} messages", kMostMessages, all);
}

}  // namespace torus::tools::labs
