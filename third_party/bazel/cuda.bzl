"""CUDA sources, compiled by nvcc in actions of their own so that Bazel caches each, or as C++ for an emulated GPU."""

load("@cuda//:toolkit.bzl", "CUDA_HOME", "HAVE_CUDA")
load("//third_party/bazel:architectures.bzl", "DEFAULT_ARCHITECTURES", "nvcc_architectures")
load("//third_party/bazel:cc.bzl", "EVERYWHERE", "torus_library")

_DEVICE_FLAGS = [
    "-std=c++20",
    "-O3",
    "--expt-relaxed-constexpr",
    "--extended-lambda",
    "-Werror=all-warnings",
]

_HOST_FLAGS = [
    "-Xcompiler=-Wall,-Wextra,-Werror,-fPIC",
    "-Xcompiler=-Wno-missing-field-initializers",  # designated initialisers name what they set
    # What nvcc hands on stands in no system header, so gcc speaks of code of fmt 9 that it misjudges.
    "-Xcompiler=-Wno-stringop-overflow",
    "-DTORUS_GPUS=1",
    # fmt 9 turns its constexpr functions off for nvcc, which then cannot check format strings.
    "-DFMT_USE_CONSTEXPR=1",
]

def _architectures(ctx):
    architectures = nvcc_architectures(ctx.var.get("cuda_architectures", DEFAULT_ARCHITECTURES))
    if architectures.error:
        fail(architectures.error)
    return architectures

# As cc.bzl has it for what is not CUDA.
def _floor_flag(cpu):
    return "-Xcompiler=-march=" + ("armv8-a+crypto" if cpu == "aarch64" else "x86-64-v3")

def _compile(ctx, src, context, cpu):
    out = ctx.actions.declare_file("_objs/%s/%s.o" % (ctx.label.name, src.basename))
    args = ctx.actions.args()
    architectures = _architectures(ctx)
    args.add_all(_DEVICE_FLAGS)
    if architectures.forbids_spills:
        args.add("-Xptxas=-warn-spills")
    args.add_all(_HOST_FLAGS)
    args.add(_floor_flag(cpu))
    args.add_all(architectures.flags)
    args.add_all(context.defines, format_each = "-D%s")
    args.add_all(context.quote_includes, format_each = "-I%s")
    args.add_all(context.includes, format_each = "-I%s")
    args.add_all(context.system_includes, format_each = "-isystem=%s")
    args.add("-c", src)
    args.add("-o", out)
    ctx.actions.run(
        executable = CUDA_HOME + "/bin/nvcc",
        arguments = [args],
        inputs = depset([src], transitive = [context.headers]),
        outputs = [out],
        mnemonic = "Nvcc",
        progress_message = "Compiling %s for GPUs" % src.short_path,
        env = {"PATH": "/usr/bin:/bin"},
    )
    return out

def _cuda_library_impl(ctx):
    if ctx.files.srcs and not HAVE_CUDA:
        fail("--config=cuda needs a CUDA toolkit: there is no %s/bin/nvcc; set CUDA_HOME" % CUDA_HOME)
    toolchain = ctx.attr._cc_toolchain[cc_common.CcToolchainInfo]
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    deps = [dep[CcInfo] for dep in ctx.attr.deps]
    toolkit = [library[CcInfo] for library in ctx.attr.toolkit]
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset(ctx.files.hdrs),
        quote_includes = depset(["."]),
    ))

    # Who includes our headers needs none of the toolkit's, and so compiles as without CUDA.
    context = cc_common.merge_cc_infos(cc_infos = [own] + deps).compilation_context
    with_toolkit = cc_common.merge_cc_infos(cc_infos = [own] + deps + toolkit).compilation_context
    objects = depset([_compile(ctx, src, with_toolkit, toolchain.cpu) for src in ctx.files.srcs])
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        cc_toolchain = toolchain,
        feature_configuration = features,
        compilation_outputs = cc_common.create_compilation_outputs(objects = objects, pic_objects = objects),
        linking_contexts = [dep.linking_context for dep in deps + toolkit],
        disallow_dynamic_library = True,
    )
    return [
        DefaultInfo(files = objects),
        CcInfo(compilation_context = context, linking_context = linking),
    ]

_cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "toolkit": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

# Every load and store calls __tsan_read4 and the like, which tools/ledger defines. Without the unrolling, the wide vectors and the
# splitting of small structs into scalars that a CPU likes, so that an access of the source is one call.
_INSTRUMENTED = "_instrumented"

# gcc warns of a loop of one turn that it is told to unroll. Not -fPIC, as the rest: its accesses by way of tables would be counted.
_INSTRUMENTED_COPTS = ["-O2", "-fPIE", "-fsemantic-interposition", "-fno-tree-vectorize", "-fno-tree-sra", "-fsanitize=thread", "-DTORUS_INSTRUMENTED", "-Wno-error"]

def instrumented_kernels(name, **kwargs):
    """All kernels of the package's cuda_librarys above, instrumented. Linked before the plain ones, they take their place."""
    kernels = [rule for rule in native.existing_rules() if rule.endswith(_INSTRUMENTED)]
    native.cc_library(
        name = name + "_of_emulated_gpus",
        deps = select({
            "//:sanitizer_on": [],  # two sanitizers do not go together
            "//conditions:default": kernels,
        }),
        tags = ["manual"],
        **kwargs
    )
    native.cc_library(
        name = name,
        visibility = EVERYWHERE,
        deps = select({
            "//:emulated_gpu_on": [name + "_of_emulated_gpus"],
            "//conditions:default": [],
        }),
        **kwargs
    )

def cuda_library(name, deps = [], hdrs = None, srcs = None, libraries = [], emulated_srcs = None, emulated_deps = [], **kwargs):
    """NAME.h and NAME.cu unless named; `libraries` of the toolkit beside CUDA's own.

    Without --config=cuda or emulated_gpu it is its headers alone: callers reach the CUDA code through Dispatch or OnDevice, which then
    compile no call of it. With --config=emulated_gpu the host's compiler takes the same sources as C++ and launches run on the CPU
    (runtime/emulated_gpu); `emulated_srcs`, C++ files, are for what has another body there.
    """
    headers = native.glob([name + ".h"]) if hdrs == None else hdrs
    sources = native.glob([name + ".cu"]) if srcs == None else srcs

    # In all builds: other headers for who depends on it would be another compilation in Bazel's cache.
    all_deps = deps + (["//runtime:emulated_gpu/kernel"] if emulated_srcs == None else emulated_deps)
    _cuda_library(
        name = name + "_by_nvcc",
        hdrs = headers,
        srcs = select({
            "//:cuda_on": sources,
            "//conditions:default": [],
        }),
        toolkit = select({
            "//:cuda_on": ["@cuda"] + libraries,
            "//conditions:default": [],
        }),
        deps = all_deps,
        **kwargs
    )
    torus_library(
        name + "_emulated",
        hdrs = headers,
        srcs = sources if emulated_srcs == None else emulated_srcs,
        copts = ["-x", "c++"],
        gpu_aware = True,
        deps = all_deps,
        tags = ["manual"],  # built where the alias leads to it
        **kwargs
    )
    if emulated_srcs == None:
        torus_library(
            name + _INSTRUMENTED,
            hdrs = headers,
            srcs = sources,
            copts = ["-x", "c++"] + _INSTRUMENTED_COPTS,
            gpu_aware = True,
            precompiled = False,
            alwayslink = True,
            deps = all_deps,
            tags = ["manual"],
            **dict(kwargs, visibility = ["//visibility:private"])
        )
    native.alias(
        name = name,
        actual = select({
            "//:emulated_gpu_on": name + "_emulated",
            "//conditions:default": name + "_by_nvcc",
        }),
        **kwargs
    )
