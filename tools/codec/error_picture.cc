#include "tools/codec/error_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace torus::tools {
namespace {

constexpr double kWidth = 860, kHeight = 520, kMargin = 60;

struct Axis {
  double least, greatest, from, to;
  double At(double value) const {
    return from + (to - from) * (value - least) / (greatest - least);
  }
};

bool IsDrawn(const CodecMeasurement& m) {
  return m.refused < m.values && std::isfinite(m.signal_to_noise_db());
}

std::string Line(double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="#888" stroke-width="0.5"/>)",
                     x1, y1, x2, y2);
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x, y, anchor,
                     text);
}

// Lines and numbers at multiples of `step`.
std::string Grid(const Axis& x, const Axis& y) {
  std::string svg;
  for (double bits = 0; bits <= x.greatest; bits += 4) {
    svg += Line(x.At(bits), y.from, x.At(bits), y.to);
    svg += Text(x.At(bits), y.from + 18, "middle", fmt::format("{:.0f}", bits));
  }
  for (double db = std::ceil(y.least / 10) * 10; db <= y.greatest; db += 10) {
    svg += Line(x.from, y.At(db), x.to, y.At(db));
    svg += Text(x.from - 6, y.At(db) + 4, "end", fmt::format("{:.0f}", db));
  }
  svg += Text((x.from + x.to) / 2, y.from + 40, "middle", "bits per value");
  return svg + Text(x.from, y.to - 10, "start", "signal-to-noise ratio of each codec, dB");
}

// A codec's name beside its point.
struct Label {
  double px, py;  // the point
  std::string text;
  double x = 0, y = 0;  // where the text begins, or ends if it stands left of the point
  bool left = false;

  double from() const { return left ? x - length() : x; }
  double length() const { return kLetter * static_cast<double>(text.size()); }
  bool Covers(const Label& other) const {
    return std::abs(y - other.y) < kLine && from() < other.from() + other.length() &&
           other.from() < from() + length();
  }

  static constexpr double kLetter = 6, kLine = 12, kGap = 6;
};

// Puts each name at its point's height, or as few lines above or below it as leave it free of the
// names before it, within the plot.
void Place(const Axis& x, const Axis& y, std::vector<Label>& labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    Label& label = labels[i];
    label.left = label.px + Label::kGap + label.length() > x.to + 20;
    label.x = label.px + (label.left ? -Label::kGap : Label::kGap);
    for (size_t step = 0; step <= 2 * labels.size(); ++step) {
      const double lines = static_cast<double>((step + 1) / 2) * (step % 2 == 0 ? 1 : -1);
      label.y = label.py + 4 + Label::kLine * lines;
      const bool inside = label.y >= y.to && label.y <= y.from - 4;
      const auto covers = [&](const Label& other) { return label.Covers(other); };
      if (inside && std::none_of(labels.begin(), labels.begin() + i, covers)) break;
    }
    label.y = std::clamp(label.y, y.to, y.from - 4);
  }
}

// The point, the name, and a line between them if the name is not at the point's height.
std::string Drawn(const Label& label) {
  const std::string point =
      fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="#c33"/>)", label.px, label.py);
  const bool parted = std::abs(label.y - 4 - label.py) > 1;
  return point + (parted ? Line(label.px, label.py, label.x, label.y - 4) : "") +
         Text(label.x, label.y, label.left ? "end" : "start", label.text);
}

}  // namespace

std::string ErrorPicture(const std::vector<CodecMeasurement>& measured) {
  double most_bits = 8, least_db = 0, most_db = 10;
  for (const CodecMeasurement& m : measured) {
    if (!IsDrawn(m)) continue;
    most_bits = std::max(most_bits, m.bits_per_value());
    least_db = std::min(least_db, m.signal_to_noise_db());
    most_db = std::max(most_db, m.signal_to_noise_db());
  }
  const Axis x{0, 1.15 * most_bits, kMargin, kWidth - 20};
  const Axis y{least_db, 1.05 * most_db, kHeight - kMargin, 30};
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" )"
      R"(font-size="11" fill="#777">)",
      kWidth, kHeight);
  svg += Grid(x, y);
  std::vector<Label> labels;
  for (const CodecMeasurement& m : measured)
    if (IsDrawn(m))
      labels.push_back({x.At(m.bits_per_value()), y.At(m.signal_to_noise_db()), m.codec});
  Place(x, y, labels);
  for (const Label& label : labels) svg += Drawn(label);
  return svg + "</svg>\n";
}

}  // namespace torus::tools
