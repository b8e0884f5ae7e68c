#include "tools/train/progress_line.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "recipes/report/units.h"

namespace torus::tools {
namespace {

constexpr size_t kRecent = 20;  // steps that speed is taken over
constexpr double kRedrawSeconds = 0.1;
constexpr int kBarWidth = 24;
constexpr char kClear[] = "\r\x1b[K";

std::string Bar(double share) {
  const int full = std::clamp(static_cast<int>(share * kBarWidth), 0, kBarWidth);
  return fmt::format("[{:=<{}}{:<{}}]", "", full, full < kBarWidth ? ">" : "", kBarWidth - full);
}

// A terminal that nobody reads from, such as mpirun's while it ends a run, fills up; a write to it
// would then block.
bool HasRoom(std::FILE* out) {
  pollfd state{.fd = fileno(out), .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) > 0 && (state.revents & POLLOUT) != 0;
}

// Without an exception: a run goes on where its log's disk is full, and RunMain tells it last.
void Put(std::FILE* out, const std::string& text) { std::fputs(text.c_str(), out); }

}  // namespace

ProgressLine::ProgressLine(std::FILE* out, const recipes::RunStart& start)
    : out_(out),
      unit_(start.unit),
      text_(start.text),
      terminal_(isatty(fileno(out)) != 0),
      begin_(start.begin),
      end_(start.end) {}

double ProgressLine::SamplesPerSecond() const {
  double samples = 0, seconds = 0;
  for (const Step& step : recent_) {
    samples += static_cast<double>(step.samples);
    seconds += step.seconds;
  }
  return seconds > 0 ? samples / seconds : 0;
}

// "24 windows/s, 3,072 tokens/s (41 % of the measured peak)".
std::string ProgressLine::Speed() const {
  const double samples = SamplesPerSecond();
  std::string text = fmt::format("{} {}/s", recipes::FormatCount(samples), unit_);
  if (text_.tokens > 0)
    text += fmt::format(", {} tokens/s",
                        recipes::FormatCount(samples * static_cast<double>(text_.tokens)));
  if (text_.peak_seconds > 0)
    text += fmt::format(" ({:.0f} % of the measured peak)", 100 * samples * text_.peak_seconds);
  return text;
}

std::string ProgressLine::Render(const Step& step) const {
  double seconds = 0, loss = 0, losses = 0;
  for (const Step& recent : recent_) {
    seconds += recent.seconds;
    if (recent.skipped) continue;
    loss += recent.loss;
    ++losses;
  }
  const auto count = static_cast<double>(recent_.size());
  const double left = seconds / count * static_cast<double>(end_ - step.step - 1);
  return fmt::format("step {}/{}  loss {:.4f}  {}  ETA {}", step.step + 1, end_, loss / losses,
                     Speed(), recipes::FormatSeconds(left));
}

void ProgressLine::Show(const Step& step) {
  recent_.push_back(step);
  if (recent_.size() > kRecent) recent_.pop_front();
  since_drawn_ += step.seconds;
  const bool last = step.step + 1 == end_;
  if (terminal_) {
    if (!last && drawn_ && since_drawn_ < kRedrawSeconds) return;
    if (!HasRoom(out_)) return;
    const double share =
        static_cast<double>(step.step + 1 - begin_) / static_cast<double>(end_ - begin_);
    Put(out_, fmt::format("{}{} {}", kClear, Bar(share), Render(step)));
  } else {
    const int64_t every = std::max<int64_t>(1, (end_ - begin_) / 20);
    if (!last && (step.step + 1 - begin_) % every != 0) return;
    Put(out_, Render(step) + "\n");
  }
  drawn_ = true;
  since_drawn_ = 0;
  std::fflush(out_);
}

void ProgressLine::Print(const std::string& text) {
  End();
  Put(out_, text + "\n");
  std::fflush(out_);
}

void ProgressLine::End() {
  if (terminal_ && drawn_) Put(out_, kClear);
  drawn_ = false;
  std::fflush(out_);
}

}  // namespace torus::tools
