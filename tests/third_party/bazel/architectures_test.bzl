"""A test of third_party/bazel/architectures.bzl."""

load("//third_party/bazel:architectures.bzl", "DEFAULT_ARCHITECTURES", "nvcc_architectures")

_FLAGS = {
    DEFAULT_ARCHITECTURES: ["-gencode=arch=compute_90,code=sm_90", "-gencode=arch=compute_90,code=compute_90"],
    "sm_90": ["-gencode=arch=compute_90,code=sm_90"],
    "sm_80": ["-gencode=arch=compute_80,code=sm_80"],
    "sm_80,sm_90": ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"],
    "sm_89,sm_100,compute_100": [
        "-gencode=arch=compute_89,code=sm_89",
        "-gencode=arch=compute_100,code=sm_100",
        "-gencode=arch=compute_100,code=compute_100",
    ],
    "compute_80": ["-gencode=arch=compute_80,code=compute_80"],
}

_REFUSED = ["", "sm_70", "90", "sm_90,", "sm_80 sm_90", "sm_80, sm_90", "sm_90,sm_90", "native", "sm_90a"]

def _failures():
    failures = []
    for text, want in _FLAGS.items():
        got = nvcc_architectures(text)
        forbids = text in [DEFAULT_ARCHITECTURES, "sm_90"]
        if got.flags != want or got.forbids_spills != forbids or got.error:
            failures.append("%s: want %s, spills forbidden: %s; got %s" % (text, want, forbids, got))
    for text in _REFUSED:
        error = nvcc_architectures(text).error
        for part in ["cuda_architectures", "sm_80,sm_89,sm_90,sm_100,compute_80,compute_89,compute_90,compute_100", "got '%s'" % text]:
            if part not in error:
                failures.append("'%s': the error '%s' does not say '%s'" % (text, error, part))
    return failures

def _architectures_test_impl(ctx):
    failures = _failures()
    lines = ["cat << 'END'"] + failures + ["END", "exit %d" % len(failures)]
    ctx.actions.write(ctx.outputs.executable, "\n".join(["#!/bin/sh"] + lines) + "\n", is_executable = True)

architectures_test = rule(implementation = _architectures_test_impl, test = True)
