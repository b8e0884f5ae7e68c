"""Repositories that point at packages installed on this system, or at folders of Torus itself."""

def _own_folder_impl(ctx):
    folder = ctx.path(Label("//:WORKSPACE")).dirname
    for name in ctx.attr.folder.split("/"):
        folder = folder.get_child(name)
    for child in folder.readdir():
        ctx.symlink(child, child.basename)

# A folder of Torus, wherever Torus itself lies.
own_folder = repository_rule(
    implementation = _own_folder_impl,
    attrs = {"folder": attr.string()},
    local = True,
)

# The name that labels use: a module extension's repositories have others in front, parted by ~ or +.
def _own_name(ctx):
    return ctx.name.split("~")[-1].split("+")[-1]

def _system_files_impl(ctx):
    for name in ctx.attr.files:
        ctx.symlink(ctx.path(ctx.attr.folder).get_child(name), name)
    ctx.file("BUILD", "exports_files(%r)\n" % ctx.attr.files)

# Files of a folder of the system, as labels.
system_files = repository_rule(
    implementation = _system_files_impl,
    attrs = {"folder": attr.string(), "files": attr.string_list()},
    local = True,
)

def _system_library_impl(ctx):
    root = ctx.path("/usr/include")
    machine = root.get_child("%s-linux-gnu" % ctx.execute(["uname", "-m"]).stdout.strip())
    for name in ctx.attr.hdrs:
        path = root.get_child(name)
        if not path.exists:
            path = machine.get_child(name)  # headers that differ from machine to machine
        if not path.exists:
            fail("missing /usr/include/%s: run ./bazelw, which installs the packages of third_party/packages.txt and, for tests, developer_packages.txt" % name)
        ctx.symlink(path, "include/" + name)
    include = "include" + ("/" + ctx.attr.include if ctx.attr.include else "")
    ctx.file("BUILD", """
cc_library(
    name = "{name}",
    hdrs = glob(["include/**"]),
    includes = ["{include}"],
    defines = {defines},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
""".format(name = _own_name(ctx), include = include, defines = ctx.attr.defines, linkopts = ctx.attr.linkopts))

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "hdrs": attr.string_list(doc = "Files and folders below /usr/include, or its folder of this kind of machine."),
        "include": attr.string(doc = "Folder among hdrs that users include from."),
        "defines": attr.string_list(doc = "Macros of whoever includes it."),
        "linkopts": attr.string_list(),
    },
    local = True,
)

_MPI_BUILD = """
cc_library(
    name = "mpi",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    # Without the C++ bindings of old, which are a library of their own.
    defines = ["OMPI_SKIP_MPICXX=1"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _ask_mpi(ctx, what):
    if not ctx.which("mpicc.openmpi"):
        fail("missing mpicc.openmpi: run ./bazelw, which installs the packages of third_party/packages.txt and, for tests, developer_packages.txt")
    return ctx.execute(["mpicc.openmpi", "--showme:" + what]).stdout.strip().split(" ")

def _open_mpi_impl(ctx):
    ctx.symlink(_ask_mpi(ctx, "incdirs")[0], "include")
    linkopts = ["-L" + folder for folder in _ask_mpi(ctx, "libdirs")]
    linkopts += ["-l" + library for library in _ask_mpi(ctx, "libs")]
    ctx.file("BUILD", _MPI_BUILD.format(linkopts = linkopts))

# OpenMPI, where its compiler says that it is.
open_mpi = repository_rule(implementation = _open_mpi_impl, local = True)

_CUDA_BUILD = """
cc_library(
    name = "cuda",
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)

cc_library(
    name = "nccl",
    linkopts = {nccl},
    visibility = ["//visibility:public"],
    deps = [":cuda"],
)

cc_library(
    name = "cublas_lt",
    linkopts = {cublas_lt},
    visibility = ["//visibility:public"],
    deps = [":cuda"],
)

cc_library(
    name = "cudnn",
    linkopts = {cudnn},
    visibility = ["//visibility:public"],
    deps = [":cuda"],
)
"""

def _cuda_toolkit_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = ctx.path(home + "/bin/nvcc").exists
    lib = home + "/lib64"
    linkopts = ["-L" + lib, "-Wl,-rpath," + lib, "-lcudart"] if found else []
    ctx.file("BUILD", _CUDA_BUILD.format(
        linkopts = linkopts,
        nccl = ["-lnccl"],
        cublas_lt = ["-lcublasLt"],
        cudnn = ["-lcudnn"],
    ))
    ctx.file("toolkit.bzl", "HAVE_CUDA = %s\nCUDA_HOME = %r\n" % (found, home))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
