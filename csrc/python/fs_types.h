/* What the CPython types share: their objects, the module's state, and the way into Python.
 *
 * The types are thin: a struct of the core behind each, and glue. Whatever is not worth doing fast
 * (checking odd arguments, reprs, JSON, pickles, error texts) is written once, in Python, for both
 * cores, and called from here. They use the limited API of CPython 3.10, so one wheel serves every later
 * version, and they never give up the GIL for nanosecond work: winning it back can take milliseconds.
 *
 * The rules of the schedule and the digest are in csrc/core alone.
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
#include <string.h>

#include "../core/fs_batch.h"
#include "../core/fs_hash.h"
#include "../core/fs_schedule.h"
#include "../core/fs_timing.h"
#include "fs_docs.h"

/* One loop belongs to one thread, and on a GIL build every method is one step for the others anyway: no
 * lock exists there. Without a GIL, who shares a loop against the rule must get wrong plans at most, and not
 * half of one state and half of another: whatever reads or writes more than a word of an object that
 * changes does it between FS_LOCK and FS_UNLOCK, with no way out in between. */
#ifdef Py_GIL_DISABLED
#define FS_LOCK(object) Py_BEGIN_CRITICAL_SECTION(object)
#define FS_UNLOCK() Py_END_CRITICAL_SECTION()
#define FS_LOCK_TWO(a, b) Py_BEGIN_CRITICAL_SECTION2(a, b)
#define FS_UNLOCK_TWO() Py_END_CRITICAL_SECTION2()
#else
#define FS_LOCK(object) {
#define FS_UNLOCK() }
#define FS_LOCK_TWO(a, b) {
#define FS_UNLOCK_TWO() }
#endif

/* The first plan and the first iterator that a frame gives back are kept for the next frame: a loop holds
 * one plan while it makes the next, so one spare serves it and saves a malloc and a free, some 65
 * instructions (callgrind). Without a GIL two threads would take the same spare. */
#ifdef Py_GIL_DISABLED
#define FS_SPARE 0
#else
#define FS_SPARE 1
#endif

typedef struct {
    PyTypeObject *loop_type;
    PyTypeObject *plan_type;
    PyTypeObject *steps_type;
    PyTypeObject *hash_type;
    PyTypeObject *stats_type;
    PyTypeObject *timing_type;
    PyObject *step_type;      /* fixedstep.time.Step, a named tuple */
    allocfunc step_alloc;     /* how step_type makes room for one; NULL from CPython 3.14 on */
    newfunc tuple_new;        /* tuple.__new__ */
    PyObject *arguments;      /* fixedstep._arguments */
    PyObject *encoding;       /* fixedstep._encoding; NULL before the first fs_absorb_value */
    PyObject *configuration;  /* fixedstep._state */
    PyObject *text;           /* fixedstep.text */
    PyObject *timing;         /* fixedstep.timing */
    PyObject *restore;        /* fixedstep.restore */
    PyObject *plans;          /* fixedstep._plans */
    PyObject *plans_from;     /* fixedstep._plans.FramePlans._from_bytes */
    PyObject *timestep_of;    /* fixedstep.time.timestep_of */
    PyObject *budget_type;    /* fixedstep.time.StepBudget */
    PyObject *spare_plan;     /* memory of a dead object, or NULL */
    PyObject *spare_steps;
} fs_state;

/* Every object knows its module's state, which lives as long as its type: PyType_GetModuleState would find
 * it at the price of a tenth of begin_frame. */
#define FS_OBJECT_HEAD \
    PyObject_HEAD      \
    fs_state *state;

typedef struct {
    FS_OBJECT_HEAD
    fs_loop loop;
} fs_loop_object;

typedef struct {
    FS_OBJECT_HEAD
    fs_plan plan;
} fs_plan_object;

typedef struct {
    FS_OBJECT_HEAD
    uint64_t tick;
    uint64_t scale;
    uint64_t unit;
    PyObject *dt; /* the int of a step's length, made with the first step; NULL for a Rate */
    uint32_t count;
} fs_steps_object;

typedef struct {
    FS_OBJECT_HEAD
    uint64_t value;
} fs_hash_object;

typedef struct {
    FS_OBJECT_HEAD
    fs_stats stats;
} fs_stats_object;

typedef struct {
    FS_OBJECT_HEAD
    fs_timing timing;
} fs_timing_object;

/* Immutable: an object that another __new__ made would have no state, and the first method would read it. */
#define FS_TYPE_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE)

extern PyType_Spec fs_loop_spec;
extern PyType_Spec fs_plan_spec;
extern PyType_Spec fs_steps_spec;
extern PyType_Spec fs_hash_spec;
extern PyType_Spec fs_stats_spec;
extern PyType_Spec fs_timing_spec;

/* Blocks of this many bytes and more are worked on without the GIL: 8,192 timestamps, which take about
 * 65 microseconds (130 with stats), or 18 microseconds of hashing. To hand the GIL over costs too little to be measured
 * where no other thread wants it, and up to 5 milliseconds where one does: shorter work keeps it. */
#define FS_RELEASE_BYTES 65536

/* A new object of one of the types, all but its head unset; NULL with MemoryError. */
#define FS_NEW(object, its_state, type) \
    ((object *)fs_with_state((PyObject *)PyObject_New(object, type), its_state))

typedef struct {
    FS_OBJECT_HEAD
} fs_object;

static inline PyObject *fs_with_state(PyObject *self, fs_state *state)
{
    if (self != NULL) {
        ((fs_object *)self)->state = state;
    }
    return self;
}

static inline fs_plan_object *fs_new_plan(fs_state *state)
{
    PyObject *spare = state->spare_plan;
    if (spare != NULL) {
        state->spare_plan = NULL;
        return (fs_plan_object *)PyObject_Init(spare, state->plan_type);
    }
    return FS_NEW(fs_plan_object, state, state->plan_type);
}

/* What a tally holds at one moment. */
static inline fs_stats fs_stats_snapshot(fs_stats_object *self)
{
    fs_stats stats;
    FS_LOCK(self);
    stats = self->stats;
    FS_UNLOCK();
    return stats;
}

static inline bool fs_same_stats(const fs_stats *a, const fs_stats *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* integers of one size: there is nothing between them */
}

/* What plan.steps() returns. */
PyObject *fs_new_steps(fs_state *state, uint64_t tick, uint32_t count, uint64_t scale,
                       uint64_t unit);

/* Absorb the encoding of any value: absorb_value.c. False with an exception, and `hash` as it was. */
bool fs_absorb_value(fs_state *state, uint64_t *hash, PyObject *value);

/* The end of an object that owns no other. */
void fs_dealloc(PyObject *self);

/* The same for one whose memory `spare` may keep. */
static inline void fs_dealloc_spare(PyObject *self, PyObject **spare)
{
    if (FS_SPARE && *spare == NULL) {
        PyTypeObject *type = Py_TYPE(self);
        *spare = self;
        Py_DECREF(type);
    }
    else {
        fs_dealloc(self);
    }
}

/* `module.name(*args, **kwargs)`; both may be NULL. */
PyObject *fs_call(PyObject *module, const char *name, PyObject *args, PyObject *kwargs);

/* `module.name(value)`. Not PyObject_CallMethod, which takes a tuple apart. */
PyObject *fs_ask(PyObject *module, const char *name, PyObject *value);

/* Raises the exception that `fixedstep._arguments.<name>(value)` makes; without `value` where it is NULL. */
void fs_raise(fs_state *state, const char *name, PyObject *value);

/* The pickle of an object: (restore, (kind, *numbers)). Takes over the reference to `numbers`. */
PyObject *fs_reduce(fs_state *state, const char *kind, PyObject *numbers);

/* What `fixedstep.text.<name>(*numbers)` says. Takes over the reference to `numbers`. */
PyObject *fs_text(fs_state *state, const char *name, PyObject *numbers);

/* What every type does in the same way, after its `prefix_state`, the values of its state as a tuple, and
 * `prefix_from`, the object of a tuple that `fixedstep._state.<name>` or `<name>_state` checked. */
#define FS_GLUE(prefix, object, kind, name)                                                    \
    static PyObject *prefix##_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)        \
    {                                                                                          \
        fs_state *state = PyType_GetModuleState(type);                                         \
        return prefix##_from(type, fs_call(state->configuration, name, args, kwargs));         \
    }                                                                                          \
    static PyObject *prefix##_from_state(PyObject *type, PyObject *args)                       \
    {                                                                                          \
        fs_state *state = PyType_GetModuleState((PyTypeObject *)type);                         \
        PyObject *checked = fs_call(state->configuration, name "_state", args, NULL);          \
        return prefix##_from((PyTypeObject *)type, checked);                                   \
    }                                                                                          \
    static PyObject *prefix##_repr(object *self)                                               \
    {                                                                                          \
        return fs_text(self->state, name, prefix##_state(self, NULL));                         \
    }                                                                                          \
    static PyObject *prefix##_reduce(object *self, PyObject *Py_UNUSED(ignored))               \
    {                                                                                          \
        return fs_reduce(self->state, kind, prefix##_state(self, NULL));                       \
    }

/* The hash of a value: that of its numbers. Takes over the reference to `numbers`. */
Py_hash_t fs_hash_numbers(PyObject *numbers);

/* What is no int becomes one by its __index__; what is out of `0 .. high`, or has no __index__, goes to
 * `fixedstep._arguments.<name>`, which raises. */
bool fs_slow_u64(fs_state *state, const char *name, uint64_t high, PyObject *value,
                 uint64_t *number);

/* PyLong_AsSize_t goes over the digits; PyLong_AsUnsignedLongLong writes and reads a byte array, for 170
 * more instructions (callgrind, CPython 3.11). */
#if SIZE_MAX == UINT64_MAX
#define FS_AS_U64 PyLong_AsSize_t
#else
#define FS_AS_U64 PyLong_AsUnsignedLongLong
#endif

/* An int in range, or of a subclass, whose __index__ operator.index does not call either. */
static inline bool fs_fast_u64(PyObject *value, uint64_t *number)
{
    if (!PyLong_CheckExact(value) && !PyLong_Check(value)) {
        return false;
    }
    *number = FS_AS_U64(value);
    if (*number != UINT64_MAX || PyErr_Occurred() == NULL) {
        return true;
    }
    PyErr_Clear();
    return false;
}

static inline bool fs_as_u64(fs_state *state, const char *name, uint64_t high, PyObject *value,
                             uint64_t *number)
{
    return (fs_fast_u64(value, number) && *number <= high)
        || fs_slow_u64(state, name, high, value, number);
}

static inline bool fs_as_timestamp(fs_state *state, PyObject *value, uint64_t *now)
{
    return fs_as_u64(state, "timestamp", UINT64_MAX, value, now);
}

/* None and its kin are counted through a function of the interpreter that runs. The macros of newer headers
 * (Py_RETURN_NONE among them) return them uncounted, also under the limited API of 3.10, where they are
 * counted: an extension built so uses up the references of None until 3.10 ends the process. */
static inline PyObject *fs_counted(PyObject *constant)
{
    Py_IncRef(constant);
    return constant;
}

static inline PyObject *fs_none(void)
{
    return fs_counted(Py_None);
}

static inline PyObject *fs_not_implemented(void)
{
    return fs_counted(Py_NotImplemented);
}

/* == and != of two objects whose type is the same; the reference handles its twin of the other core */
static inline PyObject *fs_equality(bool equal, int op)
{
    return PyBool_FromLong(op == Py_EQ ? equal : !equal);
}

#endif
