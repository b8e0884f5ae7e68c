#include "parallel/transport/mpi/last_words.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace torus::parallel {
namespace {

// A text that the signal handler may read at any moment, on any thread. It is double-buffered: the
// copy that the handler reads is not the one that changes next.
class SignalText {
 public:
  void Set(std::string_view text) {
    const int next = 1 - shown_.load(std::memory_order_relaxed);
    const size_t length = std::min(text.size(), sizeof(texts_[next]) - 1);
    std::memcpy(texts_[next], text.data(), length);
    texts_[next][length] = '\0';
    shown_.store(next, std::memory_order_release);
  }
  const char* Get() const { return texts_[shown_.load(std::memory_order_acquire)]; }

 private:
  char texts_[2][1500] = {};
  std::atomic<int> shown_{0};
};

constexpr int kMostNeighbours = 256;

struct {
  SignalText name, waiting, reason;
  std::atomic<int64_t> waiting_since{0}, alive_at{0}, longest_silence{0}, term_at{0};
  std::atomic<int> neighbours{0};
  std::atomic<int> holders{0}, held_status{0};  // 0: no end has come while one was held off
  pid_t processes[kMostNeighbours];
  SignalText names[kMostNeighbours];
  struct sigaction before;
  bool installed = false;
} words;

// The time of the steady clock.
int64_t Nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A line that is built without heap memory.
class Line {
 public:
  Line& Add(const char* text) {
    while (*text != '\0' && size_ + 1 < sizeof text_) text_[size_++] = *text++;
    return *this;
  }
  Line& AddSeconds(int64_t nanoseconds) {
    const int64_t hundredths = nanoseconds / 10'000'000;
    AddNumber(hundredths / 100, 1);
    Add(".");
    return AddNumber(hundredths % 100, 2);
  }
  void Write() {
    text_[size_++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_, size_);
  }

 private:
  Line& AddNumber(int64_t number, int digits) {
    char reversed[24], forward[24];
    int count = 0;
    for (; number > 0 || count < digits; number /= 10)
      reversed[count++] = static_cast<char>('0' + number % 10);
    std::reverse_copy(reversed, reversed + count, forward);
    forward[count] = '\0';
    return Add(forward);
  }

  char text_[4096];
  size_t size_ = 0;
};

void AddWaiting(Line& line) {
  if (words.waiting.Get()[0] == '\0') {
    line.Add("; it was waiting for nothing");
  } else {
    line.Add("; ").AddSeconds(Nanoseconds() - words.waiting_since).Add(" s of ");
    line.Add(words.waiting.Get());
  }
}

// Adds which neighbours have died; returns whether any has.
bool AddDead(Line& line) {
  bool dead = false;
  for (int i = 0; i < words.neighbours; ++i) {
    if (kill(words.processes[i], 0) == 0 || errno != ESRCH) continue;
    line.Add(dead ? ", " : "").Add(words.names[i].Get());
    dead = true;
  }
  if (dead) line.Add(" has died");
  return dead;
}

// Ends the process; returns if the end is held off for the first time.
void End(Line& line, int status) {
  AddWaiting(line);
  int none = 0;
  // In this order: the last holder lowers `holders` before it reads the status, so one of the two
  // sees the other.
  const bool first = words.held_status.compare_exchange_strong(none, status);
  const bool held = first && words.holders > 0;
  if (held) line.Add("; before that it finishes what it is writing");
  line.Write();
  if (held) return;
  // Gives the other survivors time to see who is dead.
  const timespec pause{0, 200'000'000};
  nanosleep(&pause, nullptr);
  _exit(status);
}

// What ends this process, added to the line, and the status; 0: nothing that it knows of.
int CauseOfEnd(Line& line, int signal) {
  if (words.reason.Get()[0] != '\0') {
    line.Add(words.reason.Get());
    return 1;
  }
  const int64_t silence = Nanoseconds() - words.alive_at;
  if (silence > words.longest_silence) {
    line.Add("it was silent for ").AddSeconds(silence).Add(" s itself");
    return 1;
  }
  if (AddDead(line)) return 1;
  if (words.before.sa_handler != SIG_DFL) return 0;
  line.Add("it was told to end");
  return 128 + signal;
}

extern "C" void OnTerm(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  Line line;
  line.Add("torus: ").Add(words.name.Get()).Add(" stops (SIGTERM): ");
  if (const int status = CauseOfEnd(line, signal); status != 0) {
    End(line, status);
  } else {
    words.term_at = Nanoseconds();
    if (words.before.sa_flags & SA_SIGINFO)
      words.before.sa_sigaction(signal, info, context);
    else if (words.before.sa_handler != SIG_IGN)
      words.before.sa_handler(signal);
  }
  errno = error;
}

}  // namespace

void LeaveLastWords(const std::string& name, const std::vector<Neighbour>& neighbours,
                    double silence) {
  words.name.Set(name);
  words.neighbours = 0;
  const int count = std::min<int>(kMostNeighbours, static_cast<int>(neighbours.size()));
  for (int i = 0; i < count; ++i) {
    words.processes[i] = neighbours[i].process;
    words.names[i].Set(neighbours[i].name);
  }
  words.neighbours = count;
  words.reason.Set("");
  words.longest_silence = static_cast<int64_t>(silence * 1e9);
  SayAlive();
  if (words.installed) return;
  struct sigaction action = {};
  action.sa_sigaction = OnTerm;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGTERM, nullptr, &words.before);
  words.installed = sigaction(SIGTERM, &action, nullptr) == 0;
}

void ForgetLastWords() {
  if (words.installed) sigaction(SIGTERM, &words.before, nullptr);
  words.installed = false;
}

void SayAlive() { words.alive_at = Nanoseconds(); }

void SayWaiting(const std::string& what) {
  words.waiting_since = Nanoseconds();
  words.waiting.Set(what);
}

void SayAborted(const std::string& reason) { words.reason.Set(reason); }

EndHeldOff::EndHeldOff() { ++words.holders; }

EndHeldOff::~EndHeldOff() {
  if (--words.holders == 0 && words.held_status != 0) _exit(words.held_status);
}

double SecondsSinceTerm() {
  const int64_t at = words.term_at;
  return at == 0 ? -1 : static_cast<double>(Nanoseconds() - at) / 1e9;
}

}  // namespace torus::parallel
