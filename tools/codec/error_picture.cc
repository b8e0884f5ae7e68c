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

// Where a codec's name begins, right of its point.
struct Label {
  double x, y;
  std::string text;
};

// Moves names that would cover others downwards; returns them from top to bottom.
std::vector<Label> Apart(std::vector<Label> labels) {
  constexpr double kLetter = 6, kLine = 12;
  std::ranges::stable_sort(labels, {}, &Label::y);
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t above = 0; above < i; ++above) {
      const Label& left = labels[labels[above].x <= labels[i].x ? above : i];
      const double gap = std::abs(labels[above].x - labels[i].x);
      const bool meet = gap < kLetter * static_cast<double>(left.text.size());
      if (meet) labels[i].y = std::max(labels[i].y, labels[above].y + kLine);
    }
  return labels;
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
  for (const CodecMeasurement& m : measured) {
    if (!IsDrawn(m)) continue;
    const double px = x.At(m.bits_per_value()), py = y.At(m.signal_to_noise_db());
    svg += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="#c33"/>)", px, py);
    labels.push_back({px + 6, py + 4, m.codec});
  }
  for (const Label& label : Apart(std::move(labels)))
    svg += Text(label.x, label.y, "start", label.text);
  return svg + "</svg>\n";
}

}  // namespace torus::tools
