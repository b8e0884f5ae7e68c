#!/usr/bin/env bash
# Runs the tests for GPUs under NVIDIA's compute-sanitizer, one tool after the other:
#
#     ./bazelw run --config=cuda //tests:compute_sanitizer            # memcheck, racecheck, synccheck
#     ./bazelw run --config=cuda //tests:compute_sanitizer -- memcheck --gtest_filter='GpuProducts.*'
#
# On a machine without Bazel it lies beside cuda_suite (tests/pack_cuda_suite). Words before the first flag name tools; the rest
# goes to the suite. Without a filter the longest tests are left out: whole training steps and the cases of another program,
# whose kernels the others launch too. Fails where a tool finds anything, and where there is no compute-sanitizer or no GPU.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
suite=$here/cuda_suite
[ -x "$suite" ] || { echo "compute_sanitizer: needs the program $suite" >&2; exit 2; }
sanitizer=$(command -v compute-sanitizer || echo "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer")
[ -x "$sanitizer" ] || { echo "compute_sanitizer: needs NVIDIA's compute-sanitizer, found none on the PATH or in $sanitizer" >&2; exit 2; }
[ -e /dev/nvidiactl ] || { echo "compute_sanitizer: needs a GPU, and this machine has none" >&2; exit 2; }

tools=()
while [ $# -gt 0 ] && [[ $1 != -* ]]; do
  tools+=("$1")
  shift
done
[ ${#tools[@]} -gt 0 ] || tools=(memcheck racecheck synccheck)
[ $# -gt 0 ] || set -- '--gtest_filter=-GpuSteps.*:GraphSteps.*:GpuRun.*:TrainStep.*:GpuLabs.*:NcclSteps.*:Cases.*:RealNccl.*' --gtest_brief=1

failed=0
for tool in "${tools[@]}"; do
  echo "compute-sanitizer --tool $tool"
  "$sanitizer" --tool "$tool" --error-exitcode 1 "$suite" "$@" || failed=1
done
exit $failed
