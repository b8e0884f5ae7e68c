"""The project's own C++ rules: one place for warnings, vector floor and defaults."""

# The vector floor: x86-64-v3 (AVX2, FMA) or Armv8 (NEON). Wider units are found at run time.
_FLOOR = select({
    # With cryptography, as Highway's NEON: gcc inlines nothing across. Vectors of SVE can be no members of our kernels' structs.
    "//:arm64": ["-march=armv8-a+crypto", "-DHWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)"],
    "//conditions:default": ["-march=x86-64-v3"],
})

# What all of our own code is built with, but for the level of optimization.
_COPTS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-missing-field-initializers",  # designated initialisers name what they set
    # gcc 12 warns of std::string's own moves and sums (its bugs 105329, 105651), as it does not where its headers are parsed as text.
    "-Wno-array-bounds",
    "-Wno-restrict",
] + _FLOOR + [
    "-fopenmp",
    "-fno-math-errno",
    "-fno-trapping-math",
    # One compilation serves programs and the installed shared library. Without interposition gcc inlines as it does without -fPIC.
    "-fPIC",
    "-fno-semantic-interposition",
]

def _optimized(level):
    return select({
        "//:debug_on": [],
        "//conditions:default": [level],
    })

_SANITIZED = select({
    # gcc takes several times as long over sanitized vector kernels at -O3 as at -O1; and its flow analysis mistakes
    # a sanitizer's own code for reads of unset variables.
    "//:sanitizer_on": ["-O1", "-DTORUS_SANITIZER=1", "-Wno-maybe-uninitialized"],
    "//conditions:default": [],
})

COPTS = _COPTS + _optimized("-O3") + _SANITIZED

# Of code that is compiled about as often as it runs, or spends its time in what it calls: tests, recipes, tools. Products and sums are
# contracted as in the rest, so that one that is written out here has the same bits.
CALM_COPTS = _COPTS + _optimized("-O1") + ["-fexpensive-optimizations"] + _SANITIZED

# Of code that builds graphs and reads files. No step's time is spent in it, and at -O3 it takes 1.7 times the bytes.
SMALL_COPTS = _COPTS + _optimized("-Os") + _SANITIZED

_PRECOMPILED = "//third_party/precompiled:"

def _is_within(folder):
    return (native.package_name() + "/").startswith(folder + "/")

# The precompiled headers (third_party/precompiled) of each part of the tree, and its level of optimization. Students measure what they
# build themselves.
def _part(deps):
    if "@gtest" in deps:
        return struct(header = "test", copts = CALM_COPTS)
    if "@cli11" in deps:
        return struct(header = "command_line", copts = CALM_COPTS)
    if _is_within("recipes") or (_is_within("tools") and not _is_within("tools/labs/build_it_yourself")):
        return struct(header = "calm_library", copts = CALM_COPTS)
    if _is_within("models"):
        return struct(header = "small_library", copts = SMALL_COPTS)
    return struct(header = "library", copts = COPTS)

# What every source of the target starts with (precompiled.bzl). Other copts than COPTS that change what is compiled keep gcc from
# using it; it then says so and parses the text.
def _include_precompiled(name):
    return ["-include", "third_party/precompiled/%s.h" % name, "-fpch-deps", "-Winvalid-pch", "-Wno-error=invalid-pch"]

# For targets that include runtime/on_device.h. All others have the same command lines in every build, so its cache serves all.
_GPU_COPTS = select({
    "//:cuda_on": ["-DTORUS_GPUS=1"],
    "//:emulated_gpu_on": ["-DTORUS_GPUS=2"],
    "//conditions:default": ["-DTORUS_GPUS=0"],
})

LINKOPTS = ["-fopenmp", "-lpthread"]

EVERYWHERE = ["//:__subpackages__"]

# Other workspaces build with other options than .bazelrc's, under which gcc warns of what it does not warn of here.
def _quiet_elsewhere():
    return [] if native.repository_name() == "@" else ["-w"]

def torus_library(name, deps = [], copts = [], hdrs = None, srcs = None, gpu_aware = False, precompiled = True, **kwargs):
    """One header and its source: NAME.h and NAME.cc where they exist, unless named.

    `precompiled` is False where `copts` do not go with precompiled headers.
    """
    part = _part(deps)
    headers = [part.header] if precompiled else []
    native.cc_library(
        name = name,
        hdrs = native.glob([name + ".h"]) if hdrs == None else hdrs,
        srcs = native.glob([name + ".cc"]) if srcs == None else srcs,
        deps = deps + [_PRECOMPILED + header for header in headers],
        copts = part.copts + _quiet_elsewhere() + [flag for header in headers for flag in _include_precompiled(header)] + (_GPU_COPTS if gpu_aware else []) + copts,
        linkopts = LINKOPTS,
        linkstatic = True,  # no shared library of each target beside its archive
        **kwargs
    )

def torus_binary(name, srcs = None, deps = [], linkopts = [], **kwargs):
    part = _part(deps)
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        deps = deps + ["//runtime:vector_floor", _PRECOMPILED + part.header],
        copts = part.copts + _include_precompiled(part.header),
        linkopts = LINKOPTS + linkopts,
        **kwargs
    )

def torus_test(name, srcs = None, deps = [], size = "small", linkopts = [], gpu_aware = False, **kwargs):
    """A GoogleTest program; NAME.cc unless named. Tests that read external data carry tags = ["external"]."""
    part = _part(["@gtest"])
    native.cc_test(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        deps = deps + ["@gtest", "//tests:gtest_main", _PRECOMPILED + part.header],
        copts = part.copts + _include_precompiled(part.header) + (_GPU_COPTS if gpu_aware else []),
        linkopts = LINKOPTS + linkopts,
        size = size,
        **kwargs
    )

def torus_gpu_test(name, srcs = None, deps = [], tags = [], emulated = True, gpu_aware = False, **kwargs):
    """A test that runs on GPUs where there are any, also `emulated` ones. Its cases, NAME_cases, are also those of //tests:cuda_suite."""
    torus_library(
        name = name + "_cases",
        testonly = True,
        hdrs = [],
        srcs = [name + ".cc"] if srcs == None else srcs,
        deps = deps + ["@gtest"],
        gpu_aware = gpu_aware,
        alwayslink = True,
        visibility = ["//tests:__pkg__"],
    )
    torus_test(
        name = name,
        srcs = [],
        deps = [":" + name + "_cases"],
        tags = tags + (["gpu"] if emulated else []),
        **kwargs
    )

def torus_tests(deps, external = [], medium = [], large = [], exclude = [], data = [], gpu = [], gpu_aware = []):
    """Every *_test.cc of the folder, each a test of its own name; the folder's headers are theirs.

    Those in `gpu` are torus_gpu_tests; the target gpu_cases has the cases of all of them. Those in `gpu_aware` include
    runtime/on_device.h.
    """
    for src in native.glob(["*_test.cc"], exclude = exclude):
        name = src[:-3]
        rule = torus_gpu_test if name in gpu else torus_test
        rule(
            name = name,
            srcs = [src] + native.glob(["*.h"]),
            deps = deps,
            size = "large" if name in large else ("medium" if name in medium else "small"),
            tags = ["external"] if name in external else [],
            data = data,
            gpu_aware = name in gpu_aware,
        )
    if gpu:
        native.cc_library(
            name = "gpu_cases",
            testonly = True,
            visibility = ["//tests:__pkg__"],
            deps = [":%s_cases" % name for name in gpu],
        )
