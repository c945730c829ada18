"""The suite and two figures on PyPy 3.11, in a Debian of its own.

    python checks/pypy/run.py DEBIAN [files and options for pytest]

DEBIAN is a folder with Debian trixie in it, made by debootstrap where it is not there yet, which
takes root and some minutes. The checkout is copied there, installed with the C core and tested;
then the frame's body and the digest are timed, with the C core and without a compiler.

Tests that PyPy cannot pass are left out by the names below, each with its reason. A test that is
named there and passes is no error.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = "pypy3,pypy3-dev,pypy3-venv,gcc,libc6-dev,ca-certificates"
MIRROR = "http://deb.debian.org/debian"
#: Both have had compiled parts since, which PyPy 7.3.19 cannot load or build.
TOOLS = "'hypothesis==6.130.0' 'pytest>=8' 'cbor2<5.8' numpy"

_NO_MEMORY_COUNT = "counts memory or references with tracemalloc, gc or getsizeof, as CPython does"
_NATIVE = "is about the C types, which are CPython's"
_SHARED = "shares one object among threads, whose turns end anywhere in types written in Python"
_ORDERED = "takes the order of a set from the seed of hashes; PyPy's sets keep that of insertion"
_SLOW = "runs for minutes there, and is about files and memory"
#: What PyPy cannot pass, and why. A file without a test is left out whole.
WITHOUT = {
    "test_leaks.py": _NO_MEMORY_COUNT,
    "test_no_memory.py": _NO_MEMORY_COUNT,
    "test_interrupts.py": "traces every bytecode, which takes hours there",
    "test_captures.py::test_a_file_of_four_times_the_length_takes_no_more_memory": _NO_MEMORY_COUNT,
    "test_captures.py::test_a_gzip_file_that_unfolds_a_thousandfold_is_refused_in_little_memory": (
        _NO_MEMORY_COUNT
    ),
    "test_captures.py::test_a_hundred_million_bytes_on_one_line_are_refused_in_little_memory": (
        _NO_MEMORY_COUNT
    ),
    "test_input.py::test_reading_a_tick_costs_what_is_written_however_many_actions_there_are": (
        _NO_MEMORY_COUNT
    ),
    "test_analyze.py": _SLOW,
    "test_hostile_input.py": _SLOW,
    "test_types.py": "needs mypy, whose compiled parts are CPython's",
    "test_timing.py::test_memory_does_not_grow_with_the_frames": _NO_MEMORY_COUNT,
    "test_reentry.py::test_a_finalizer_that_takes_steps_gets_what_nobody_else_gets": (
        _NO_MEMORY_COUNT
    ),
    "test_mailbox.py::test_a_report_from_a_finalizer_in_the_middle_of_a_request_does_not_hang": (
        _NO_MEMORY_COUNT
    ),
    "test_backend.py::test_a_core_can_be_forced": _NATIVE,
    "test_backend.py::test_importing_the_package_loads_little_of_the_standard_library": (
        "PyPy itself loads inspect for a compiled module"
    ),
    "test_backend.py::test_the_encoding_is_loaded_with_the_first_value": _NATIVE,
    "test_hash.py::test_small_buffers_and_odd_integers_are_not_checked_in_python": _NATIVE,
    "test_backend.py::test_a_native_core_that_is_required_and_missing_is_an_error_that_says_why": (
        _NATIVE
    ),
    "test_backend.py::test_auto_falls_back_and_says_why": _NATIVE,
    "test_backend.py::test_auto_prefers_the_native_core": _NATIVE,
    "test_backend.py::test_both_cores_can_be_had_by_name": _NATIVE,
    "test_backend.py::test_the_core_that_was_not_chosen_is_not_loaded": _NATIVE,
    "test_backend.py::test_the_suite_itself_knows_what_runs": _NATIVE,
    "test_batch.py::test_a_length_that_lies_is_not_believed": _NATIVE,
    "test_bench.py": _NATIVE,
    "test_cli_bench.py::test_both_cores_and_their_ratio_stand_in_one_table": _NATIVE,
    "test_cli_bench.py::test_without_cffi_both_cores_are_shown": _NATIVE,
    "test_cli.py::test_both_cores_replay_a_recording_to_equal_digests": _NATIVE,
    "test_cli.py::test_info_describes_the_extension": _NATIVE,
    "test_docs.py::test_the_code_of_a_page_prints_what_the_page_says": _NATIVE,
    "test_hash.py::test_a_library_that_flushes_small_numbers_changes_no_digest[native]": _NATIVE,
    "test_how_to.py::test_the_page_of_replays_is_true": _NATIVE,
    "test_objects.py::test_an_object_made_around_its_constructor_crashes_nothing": _NATIVE,
    "test_objects.py::test_each_core_loads_the_pickles_of_both": _NATIVE,
    "test_threads.py::test_a_free_threaded_interpreter_stays_without_its_gil": _NATIVE,
    "test_threads.py::test_other_interpreters_run_the_same_core_with_the_same_digest": (
        "PyPy has no other interpreters in a process"
    ),
    "test_threads.py::test_other_threads_run_while_much_is_hashed_or_planned": _NATIVE,
    "test_threads.py::test_an_iterator_that_eight_threads_share_gives_every_step_once": _SHARED,
    "test_threads.py::test_a_tally_that_eight_threads_share_counts_every_frame": _SHARED,
    "test_encoding.py::test_the_seed_of_hashes_changes_no_digest": _ORDERED,
    "test_testing.py::test_a_run_of_a_script_is_found": _ORDERED,
    "test_testing.py::test_a_set_that_is_iterated_is_found_between_processes": _ORDERED,
    "test_testing.py::test_a_sound_game_passes_in_processes_that_differ": _NATIVE,
    "test_world_demo.py::test_a_headless_run_prints_the_state_hash[native]": _NATIVE,
    "test_world_demo.py::test_two_cores_record_the_same_and_diff_says_so": _NATIVE,
    "test_examples.py::test_both_cores_print_the_same": _NATIVE,
    "test_extension.py::test_a_compiled_type_cannot_be_changed": _NATIVE,
    "test_extension.py::test_a_library_with_the_same_names_changes_nothing": _NATIVE,
    "test_extension.py::test_a_patch_that_fails_leaves_the_type_usable": _NATIVE,
    "test_extension.py::test_hashing_a_large_bytearray_lets_signals_through": (
        "one call hashes all of it there, 6 GB a second, and Ctrl-C waits for the end"
    ),
    "test_extension.py::test_the_extension_exports_its_two_modules_and_nothing_else": _NATIVE,
    "test_errors.py::test_a_mistake_in_the_callers_own_index_is_shown": (
        "PyPy words its own errors in another way"
    ),
    "test_encoding.py::test_what_has_no_encoding_is_named_with_its_place": (
        "names a type of CPython's"
    ),
    "test_threads.py::test_a_loop_that_eight_threads_share_gives_every_tick_once": _SHARED,
    "test_batch.py::test_a_buffer_cannot_be_resized_while_a_batch_reads_it": (
        "PyPy lets a bytearray grow under a view of it"
    ),
    "test_batch.py::test_an_index_beyond_a_batch_is_an_index_error": (
        "PyPy's memoryview raises OverflowError for an index beyond 64 bits"
    ),
}


def inside(debian: Path, script: str) -> int:
    """Run a script for the shell in that Debian; what it ends with."""
    unshare = ["unshare", "--fork", "--pid", f"--mount-proc={debian / 'proc'}"]
    command = [*unshare, "chroot", str(debian), "sh", "-ec", script]
    return subprocess.run(command, check=False).returncode


def main() -> int:
    """Make the Debian, install, test, time; the suite's exit code."""
    parser = argparse.ArgumentParser(description="The suite on PyPy, in a Debian of its own.")
    parser.add_argument("debian", type=Path)
    arguments, options = parser.parse_known_args()
    debian = arguments.debian.resolve()
    if not (debian / "usr" / "bin" / "pypy3").exists():
        bootstrap = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "trixie"]
        subprocess.run([*bootstrap, str(debian), MIRROR], check=True)
    inside(debian, "rm -rf /opt/check; mkdir -p /opt/check")
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    copy = subprocess.run(
        ["tar", "c", "--null", "-T", "-"], cwd=ROOT, input=tracked, check=True, capture_output=True
    )
    unpack = ["tar", "x", "-C", str(debian / "opt" / "check")]
    subprocess.run(unpack, input=copy.stdout, check=True)
    for name, build in (("native", "require"), ("pure", "skip")):
        failed = inside(
            debian,
            f"cd /opt/check; rm -rf build; pypy3 -m venv /opt/{name}; "
            f"FIXEDSTEP_BUILD={build} /opt/{name}/bin/pip install -q --force-reinstall .",
        )
        if failed:
            return failed
    left_out = " ".join(
        f"--deselect 'tests/{name}'" if "::" in name else f"--ignore tests/{name}"
        for name in WITHOUT
    )
    code = inside(
        debian,
        f"/opt/native/bin/pip install -q {TOOLS}; cd /opt/check; rm -rf src build; "
        "/opt/native/bin/python -m pytest -q --tb=short -p no:cacheprovider "
        f"{left_out} {' '.join(options or ['tests'])}",
    )
    for name in ("native", "pure"):
        code = (
            inside(debian, f"cd /; /opt/{name}/bin/python /opt/check/checks/pypy/figures.py")
            or code
        )
    print("pypy: passed" if code == 0 else f"pypy: failed with {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
