#include "parallel/transport/mpi/last_words.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace torus::parallel {
namespace {

pid_t DeadProcess() {
  const pid_t process = fork();
  if (process == 0) _exit(0);
  waitpid(process, nullptr, 0);
  return process;
}

class LastWordsDeathTest : public testing::Test {
 protected:
  LastWordsDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(LastWordsDeathTest, TheDeadAreNamedAndTheLivingNot) {
  EXPECT_EXIT(
      {
        LeaveLastWords("rank 0 on a",
                       {{getpid(), "rank 1 on a"},
                        {DeadProcess(), "rank 2 on a"},
                        {DeadProcess(), "rank 3 on a"}},
                       60);
        SayWaiting("waiting for rank 1 to send 4 bytes");
        raise(SIGTERM);
      },
      testing::ExitedWithCode(1),
      "^torus: rank 0 on a stops \\(SIGTERM\\): rank 2 on a, rank 3 on a has died; "
      "0\\.[0-9][0-9] s of waiting for rank 1 to send 4 bytes\n");
}

TEST_F(LastWordsDeathTest, AnAbortedRunIsTheReasonWhoeverHasDied) {
  EXPECT_EXIT(
      {
        LeaveLastWords("rank 0 on a", {{DeadProcess(), "rank 1 on a"}}, 60);
        SayWaiting("waiting for rank 1");
        SayWaiting("");
        SayAborted("rank 3 failed: the disk is full");
        raise(SIGTERM);
      },
      testing::ExitedWithCode(1),
      "^torus: rank 0 on a stops \\(SIGTERM\\): rank 3 failed: the disk is full; it was waiting "
      "for "
      "nothing\n");
}

TEST_F(LastWordsDeathTest, WhoWasSilentBlamesNobody) {
  EXPECT_EXIT(
      {
        LeaveLastWords("rank 0 on a", {{DeadProcess(), "rank 1 on a"}}, -1);
        raise(SIGTERM);
      },
      testing::ExitedWithCode(1), "it was silent for 0\\.[0-9][0-9] s itself; it was waiting");
}

TEST_F(LastWordsDeathTest, WhatIsBeingWrittenGetsWhole) {
  EXPECT_EXIT(
      {
        LeaveLastWords("rank 0 on a", {{DeadProcess(), "rank 1 on a"}}, 60);
        {
          const EndHeldOff outer;
          {
            const EndHeldOff inner;
            raise(SIGTERM);
          }
          fputs("written\n", stderr);
        }
        fputs("beyond\n", stderr);
      },
      testing::ExitedWithCode(1),
      "^torus: rank 0 on a stops \\(SIGTERM\\): rank 1 on a has died; it was waiting for nothing; "
      "before that it finishes what it is writing\nwritten\n$");
}

TEST_F(LastWordsDeathTest, ASecondSignalEndsAtOnce) {
  EXPECT_EXIT(
      {
        LeaveLastWords("rank 0 on a", {{DeadProcess(), "rank 1 on a"}}, 60);
        const EndHeldOff held;
        raise(SIGTERM);
        raise(SIGTERM);
        fputs("beyond\n", stderr);
      },
      testing::ExitedWithCode(1), "what it is writing\n.*it was waiting for nothing\n$");
}

TEST_F(LastWordsDeathTest, WithoutAHandlerTheProcessEnds) {
  EXPECT_EXIT(
      {
        LeaveLastWords("rank 0 on a", {{getpid(), "rank 1 on a"}}, 60);
        raise(SIGTERM);
      },
      testing::ExitedWithCode(143), "it was told to end; it was waiting for nothing");
}

std::atomic<int> caught{0};

TEST(LastWords, TheProgramsOwnHandlerHasItsTurn) {
  signal(SIGTERM, [](int number) { caught = number; });
  LeaveLastWords("rank 0 on a", {{getpid(), "rank 1 on a"}}, 60);
  EXPECT_LT(SecondsSinceTerm(), 0);
  raise(SIGTERM);
  EXPECT_EQ(caught, SIGTERM);
  EXPECT_GE(SecondsSinceTerm(), 0);
  ForgetLastWords();
  caught = 0;
  raise(SIGTERM);
  EXPECT_EQ(caught, SIGTERM);
  signal(SIGTERM, SIG_DFL);
}

}  // namespace
}  // namespace torus::parallel
