/* What the CPython types share: their objects, the module's state, and the way into Python.
 *
 * The types are thin: a struct of the core behind each, and glue. Whatever is not worth doing fast
 * (checking odd arguments, reprs, JSON, pickles, error texts) is written once, in Python, for both
 * cores, and called from here. They use the limited API of CPython 3.10, so one wheel serves every later
 * version, and they never give up the GIL for nanosecond work: winning it back can take milliseconds.
 *
 * Refuses to hold rules: a rule found here and not in csrc/core is a bug.
 */
#ifndef FS_TYPES_H
#define FS_TYPES_H

#ifndef FS_FULL_API
#define Py_LIMITED_API 0x030a0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>

#include "../core/fs_batch.h"
#include "../core/fs_hash.h"
#include "../core/fs_schedule.h"
#include "fs_docs.h"

typedef struct {
    PyTypeObject *loop_type;
    PyTypeObject *plan_type;
    PyTypeObject *steps_type;
    PyTypeObject *hash_type;
    PyTypeObject *stats_type;
    PyObject *step_type;      /* fixedstep.time.Step, a named tuple */
    allocfunc step_alloc;     /* how step_type makes room for one */
    PyObject *arguments;      /* fixedstep.arguments */
    PyObject *configuration;  /* fixedstep.configuration */
    PyObject *text;           /* fixedstep.text */
    PyObject *restore;        /* fixedstep.pickling.restore */
    PyObject *plans_from;     /* fixedstep.plans.FramePlans._from_bytes */
    PyObject *timestep_of;    /* fixedstep.time.timestep_of */
    PyObject *budget_type;    /* fixedstep.time.StepBudget */
} fs_state;

typedef struct {
    PyObject_HEAD
    fs_loop loop;
} fs_loop_object;

typedef struct {
    PyObject_HEAD
    fs_plan plan;
} fs_plan_object;

typedef struct {
    PyObject_HEAD
    uint64_t tick;
    uint64_t scale;
    uint64_t unit;
    PyObject *dt; /* the int of a step's length, made with the first step; NULL for a Rate */
    uint32_t count;
} fs_steps_object;

typedef struct {
    PyObject_HEAD
    uint64_t value;
} fs_hash_object;

typedef struct {
    PyObject_HEAD
    fs_stats stats;
} fs_stats_object;

extern PyType_Spec fs_loop_spec;
extern PyType_Spec fs_plan_spec;
extern PyType_Spec fs_steps_spec;
extern PyType_Spec fs_hash_spec;
extern PyType_Spec fs_stats_spec;

/* Blocks of this many bytes and more are worked on without the GIL: 8,192 timestamps, or about 20
 * microseconds of hashing, against about one to give it up and take it back. */
#define FS_RELEASE_BYTES 65536

static inline fs_state *fs_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

/* The end of an object that owns no other. */
void fs_dealloc(PyObject *self);

/* `module.name(*args, **kwargs)`; both may be NULL. */
PyObject *fs_call(PyObject *module, const char *name, PyObject *args, PyObject *kwargs);

/* `module.name(value)`. Not PyObject_CallMethod, which takes a tuple apart. */
PyObject *fs_ask(PyObject *module, const char *name, PyObject *value);

/* Raises the exception that `fixedstep.arguments.<name>(value)` makes; without `value` where it is NULL. */
void fs_raise(fs_state *state, const char *name, PyObject *value);

/* The pickle of an object: (restore, (kind, *numbers)). Takes over the reference to `numbers`. */
PyObject *fs_reduce(fs_state *state, const char *kind, PyObject *numbers);

/* What `fixedstep.text.<name>(*numbers)` says. Takes over the reference to `numbers`. */
PyObject *fs_text(fs_state *state, const char *name, PyObject *numbers);

/* The hash of a value: that of its numbers. Takes over the reference to `numbers`. */
Py_hash_t fs_hash_numbers(PyObject *numbers);

/* An exact int in range is taken here; anything else goes to `fixedstep.arguments.<name>`, which gives an
 * int in range or raises. */
bool fs_slow_u64(fs_state *state, const char *name, PyObject *value, uint64_t *number);

static inline bool fs_fast_u64(PyObject *value, uint64_t *number)
{
    if (!PyLong_CheckExact(value)) {
        return false;
    }
    *number = PyLong_AsUnsignedLongLong(value);
    if (*number != UINT64_MAX || PyErr_Occurred() == NULL) {
        return true;
    }
    PyErr_Clear();
    return false;
}

static inline bool fs_as_timestamp(fs_state *state, PyObject *value, uint64_t *now)
{
    return fs_fast_u64(value, now) || fs_slow_u64(state, "timestamp", value, now);
}

/* == and != of two objects whose type is the same; the reference handles its twin of the other core */
static inline PyObject *fs_equality(bool equal, int op)
{
    return PyBool_FromLong(op == Py_EQ ? equal : !equal);
}

#endif
