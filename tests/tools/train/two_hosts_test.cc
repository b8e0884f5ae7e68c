// A run over two hosts: network namespaces of this machine with addresses and names of their own,
// joined by a cable of their own, over which OpenMPI talks by TCP. Needs root and `ip`.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

using Words = std::vector<std::string>;

bool Do(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

// Two hosts, a and b, and the cable between them, while it exists.
class Hosts {
 public:
  Hosts() {
    // Those of an earlier run that was killed.
    Do("ip netns list | sed -n 's/^t[ab]\\([0-9]*\\).*/\\1/p' | while read p; do kill -0 $p || "
       "{ ip netns delete ta$p; ip netns delete tb$p; }; done");
    works_ = Do("mkdir -p " + sessions()) && Do("unshare --uts true") &&
             Do("ip netns add " + a()) && Do("ip netns add " + b()) &&
             Do("ip link add name " + End("a") + " netns " + a() + " type veth peer name " +
                End("b") + " netns " + b()) &&
             Open(a(), End("a"), "10.77.0.1/24") && Open(b(), End("b"), "10.77.0.2/24");
  }
  ~Hosts() {
    for (const std::string& host : {a(), b()}) {
      Do("ip netns pids " + host + " | xargs -r kill -9");
      Do("ip netns delete " + host);
    }
    Do("rm -rf " + sessions());
  }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  bool works() const { return works_; }
  // Unique, so that two runs of this test may go on at once; and short, as names of links must be.
  std::string a() const { return "ta" + std::to_string(getpid()); }
  std::string b() const { return "tb" + std::to_string(getpid()); }
  // The folder of mpirun's sockets, whose names must be short.
  std::string sessions() const { return "/tmp/t" + std::to_string(getpid()); }
  void CutCable() const { Do("ip -n " + b() + " link set " + End("b") + " down"); }

 private:
  std::string End(const std::string& host) const { return "v" + host + std::to_string(getpid()); }
  bool Open(const std::string& host, const std::string& end, const std::string& address) const {
    const std::string in = "ip -n " + host;
    return Do(in + " address add " + address + " dev " + end) &&
           Do(in + " link set " + end + " up") && Do(in + " link set lo up");
  }

  bool works_ = false;
};

class TwoHosts : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!hosts_.works()) GTEST_SKIP() << "no network namespaces (root and ip): NOT tested";
    Write("agent",
          "#!/bin/sh\n# HOST COMMAND ...: what ssh would do\nhost=$1\nshift\n"
          "exec ip netns exec $host unshare --uts sh -c 'hostname $0; exec sh -c \"$1\"' $host "
          "\"$*\"\n");
    std::filesystem::permissions(scratch_ + "/agent", std::filesystem::perms::owner_all);
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ + "/" + name) << text;
  }

  // mpirun on host a, with so many ranks on a and on b.
  Words Command(int on_a, int on_b, const Words& flags) const {
    Write("hosts", hosts_.a() + " slots=" + std::to_string(on_a) + "\n" + hosts_.b() +
                       " slots=" + std::to_string(std::max(1, on_b)) + "\n");
    Words command{"ip", "netns", "exec", hosts_.a(), "unshare", "--uts", "sh", "-c",
                  "hostname $0; export TMPDIR=$1; shift; exec \"$@\"", hosts_.a(),
                  hosts_.sessions(), "mpirun", "--allow-run-as-root", "-n",
                  std::to_string(on_a + on_b), "--hostfile", scratch_ + "/hosts", "--bind-to",
                  "none", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", scratch_ + "/agent",
                  "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "10.77.0.0/24",
                  "--mca", "oob_tcp_if_include", "10.77.0.0/24",
                  // So mpirun sees a cut cable soon after the ranks.
                  "--mca", "oob_tcp_keepalive_time", "5", "--mca", "oob_tcp_keepalive_intvl", "1",
                  "--mca", "oob_tcp_keepalive_probes", "2", "tools/train/train"};
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  }
  Ended OnHosts(int on_a, int on_b, const Words& flags) const {
    return Program("/usr/bin/env", Command(on_a, on_b, flags), scratch_).Wait();
  }
  Words ThreadsOf(const std::string& run) const {
    Words threads;
    const nlohmann::json summary = Json(run + "/summary.json");
    for (const auto& rank : summary["ranks"]) threads.push_back(rank["threads"].dump());
    return threads;
  }

  const Hosts hosts_;
};

TEST_F(TwoHosts, DivideTheirThreadsAmongTheirOwnRanks) {
  const auto with = [&](const std::string& run, const char* threads) {
    return Small(run,
                 {"--stages", "3", "--codec", "none", "--threads", threads, "--max-steps", "2"});
  };
  const Ended one = OnHosts(3, 0, with("one", "6")), two = OnHosts(2, 1, with("two", "6"));
  ASSERT_EQ(one.status, 0) << one.err;
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(ThreadsOf("one"), (Words{"2", "2", "2"}));
  EXPECT_EQ(ThreadsOf("two"), (Words{"3", "3", "6"}));
  // Fewer than the run has ranks, but as many as each host has.
  const Ended few = OnHosts(2, 1, with("few", "2"));
  ASSERT_EQ(few.status, 0) << few.err;
  EXPECT_EQ(ThreadsOf("few"), (Words{"1", "1", "2"}));
}

// With as many threads a rank, on which bits depend.
TEST_F(TwoHosts, GiveTheBitsOfOne) {
  const Words flags{"--stages", "2", "--replicas", "2", "--codec", "none"};
  const auto with = [&](const std::string& run, const char* threads) {
    Words all = Small(run, flags);
    all.insert(all.end(), {"--threads", threads});
    return all;
  };
  const Ended one = OnHosts(4, 0, with("one", "4")), two = OnHosts(2, 2, with("two", "2"));
  ASSERT_EQ(one.status, 0) << one.err;
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(Losses("two"), Losses("one"));
  EXPECT_TRUE(Tensors("two") == Tensors("one"));
}

// Its clock would have to be both hosts'.
TEST_F(TwoHosts, HaveNoEmulatedLink) {
  const Ended ended = OnHosts(1, 1, Small("run", {"--link", "1ms,1Gbps"}));
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("[--link]"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/run/checkpoint"));
}

// Long enough that the cable is cut in the middle of it.
TEST_F(TwoHosts, ACutCableIsNamed) {
  Words flags = Small("run", {"--timeout", "2"});
  *(std::ranges::find(flags, "--epochs") + 1) = "100000";
  const Program program("/usr/bin/env", Command(1, 1, flags), scratch_);
  while (Losses("run").size() < 5 && program.running()) usleep(10000);
  ASSERT_TRUE(program.running()) << program.Wait().err;
  hosts_.CutCable();
  for (int i = 0; i < 600 && program.running(); ++i) usleep(100'000);
  ASSERT_FALSE(program.running()) << "a minute after the cable was cut";
  const Ended ended = program.Wait();
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find("rank 1 shows no progress (host " + hosts_.b() + ")"), std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace torus::tools::testing
