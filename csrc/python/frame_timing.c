/* FrameTiming. The reference is FrameTiming in src/fixedstep/reference.py. */
#include "fs_types.h"

#include <string.h>

static PyObject *timing_copy(fs_timing_object *self, PyObject *Py_UNUSED(ignored))
{
    fs_timing_object *copy = FS_NEW(fs_timing_object, self->state, self->state->timing_type);
    if (copy != NULL) {
        FS_LOCK(self);
        copy->timing = self->timing;
        FS_UNLOCK();
    }
    return (PyObject *)copy;
}

/* The buckets that counted a frame: a new dict. */
static PyObject *used_buckets(const fs_timing *timing)
{
    PyObject *buckets = PyDict_New();
    for (uint32_t i = 0; buckets != NULL && i < FS_TIMING_BUCKETS; i++) {
        if (timing->counts[i] == 0) {
            continue;
        }
        PyObject *bucket = PyLong_FromUnsignedLong(i);
        PyObject *frames = PyLong_FromUnsignedLongLong(timing->counts[i]);
        if (bucket == NULL || frames == NULL || PyDict_SetItem(buckets, bucket, frames) < 0) {
            Py_CLEAR(buckets);
        }
        Py_XDECREF(bucket);
        Py_XDECREF(frames);
    }
    return buckets;
}

/* The one value of the state: the arguments that make an equal object. It is read from a copy: what is made
 * here can run a finalizer that records. */
static PyObject *timing_state(fs_timing_object *self, PyObject *Py_UNUSED(ignored))
{
    fs_timing_object *copy = (fs_timing_object *)timing_copy(self, NULL);
    if (copy == NULL) {
        return NULL;
    }
    const fs_timing *timing = &copy->timing;
    PyObject *buckets = used_buckets(timing);
    PyObject *state = NULL;
    if (buckets != NULL) {
        state = Py_BuildValue("({s:K,s:K,s:K,s:K,s:K,s:N})", "min", timing->min, "max", timing->max,
                              "sum", timing->sum, "drawn", timing->drawn, "skipped",
                              timing->skipped, "buckets", buckets);
    }
    Py_DECREF(copy);
    return state;
}

/* From buckets that were checked in Python. */
static bool set_buckets(fs_timing *timing, PyObject *buckets)
{
    PyObject *bucket, *frames;
    Py_ssize_t position = 0;
    while (PyDict_Next(buckets, &position, &bucket, &frames)) {
        const unsigned long long index = PyLong_AsUnsignedLongLong(bucket);
        if (index >= FS_TIMING_BUCKETS) {
            PyErr_SetString(PyExc_SystemError, "a bucket that was not checked");
            return false;
        }
        timing->counts[index] = PyLong_AsUnsignedLongLong(frames);
    }
    return PyErr_Occurred() == NULL;
}

/* Takes over the reference to `checked`. */
static PyObject *timing_from(PyTypeObject *type, PyObject *checked)
{
    if (checked == NULL) {
        return NULL;
    }
    fs_state *state = PyType_GetModuleState(type);
    unsigned long long min, max, sum, drawn, skipped;
    PyObject *buckets;
    fs_timing_object *self = NULL;
    if (PyArg_ParseTuple(checked, "KKKKKO!", &min, &max, &sum, &drawn, &skipped, &PyDict_Type,
                         &buckets)
        && (self = FS_NEW(fs_timing_object, state, state->timing_type)) != NULL) {
        memset(&self->timing, 0, sizeof self->timing);
        self->timing.min = min;
        self->timing.max = max;
        self->timing.sum = sum;
        self->timing.drawn = drawn;
        self->timing.skipped = skipped;
        if (!set_buckets(&self->timing, buckets)) {
            Py_CLEAR(self);
        }
    }
    Py_DECREF(checked);
    return (PyObject *)self;
}

FS_GLUE(timing, fs_timing_object, "FrameTiming", "frame_timing")

/* The arguments of `record` in another form than (frame_time, drawn): by name, or too many. What they come
 * to is checked in Python: a new reference to (frame_time, drawn), or NULL. */
static PyObject *arguments_of_record(fs_state *state, PyObject *const *args, Py_ssize_t count,
                                     PyObject *names)
{
    PyObject *positional = PyTuple_New(count);
    PyObject *named = PyDict_New();
    PyObject *result = NULL;
    if (positional == NULL || named == NULL) {
        goto done;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(args[i]);
        (void)PyTuple_SetItem(positional, i, args[i]); /* on a new tuple: cannot fail */
    }
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++) {
        if (PyDict_SetItem(named, PyTuple_GetItem(names, i), args[count + i]) < 0) {
            goto done;
        }
    }
    result = fs_call(state->configuration, "frame_timing_record", positional, named);
done:
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return result;
}

static PyObject *timing_record(fs_timing_object *self, PyObject *const *args, Py_ssize_t count,
                               PyObject *names)
{
    const Py_ssize_t by_name = names == NULL ? 0 : PyTuple_Size(names);
    uint64_t frame_time;
    int drawn;
    if (count + by_name == 2
        && (by_name == 0
            || (by_name == 1
                && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "drawn") == 0))) {
        if (!fs_as_u64(self->state, "frame_time", UINT64_MAX, args[0], &frame_time)) {
            return NULL;
        }
        drawn = PyObject_IsTrue(args[1]);
        if (drawn < 0) {
            return NULL;
        }
    }
    else {
        PyObject *checked = arguments_of_record(self->state, args, count, names);
        unsigned long long number;
        const bool parsed = checked != NULL && PyArg_ParseTuple(checked, "Kp", &number, &drawn);
        Py_XDECREF(checked);
        if (!parsed) {
            return NULL;
        }
        frame_time = number;
    }
    FS_LOCK(self);
    fs_timing_record(&self->timing, frame_time, (uint32_t)drawn);
    FS_UNLOCK();
    return fs_none();
}

static PyObject *timing_percentile(fs_timing_object *self, PyObject *args, PyObject *kwargs)
{
    PyObject *state = timing_state(self, NULL);
    PyObject *all = state == NULL ? NULL : PySequence_Concat(state, args);
    PyObject *span = all == NULL ? NULL : fs_call(self->state->timing, "percentile", all, kwargs);
    Py_XDECREF(state);
    Py_XDECREF(all);
    return span;
}

static PyObject *timing_json(fs_timing_object *self, PyObject *Py_UNUSED(ignored))
{
    return fs_text(self->state, "frame_timing_json", timing_state(self, NULL));
}

static PyObject *timing_count(fs_timing_object *self, void *Py_UNUSED(closure))
{
    uint64_t count;
    FS_LOCK(self);
    count = fs_add(self->timing.drawn, self->timing.skipped);
    FS_UNLOCK();
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *timing_richcompare(fs_timing_object *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != Py_TYPE(self)) {
        return fs_not_implemented();
    }
    const fs_timing *a = &self->timing;
    const fs_timing *b = &((fs_timing_object *)other)->timing;
    bool equal;
    FS_LOCK_TWO(self, other);
    equal = memcmp(a, b, sizeof *a) == 0;
    FS_UNLOCK_TWO();
    return fs_equality(equal, op);
}

static PyMethodDef timing_methods[] = {
    {"record", (PyCFunction)(void (*)(void))timing_record, METH_FASTCALL | METH_KEYWORDS,
     fs_doc_FrameTiming_record},
    {"percentile", (PyCFunction)(void (*)(void))timing_percentile, METH_VARARGS | METH_KEYWORDS,
     fs_doc_FrameTiming_percentile},
    {"json", (PyCFunction)timing_json, METH_NOARGS, fs_doc_FrameTiming_json},
    {"_state", (PyCFunction)timing_state, METH_NOARGS, NULL},
    {"_from_state", (PyCFunction)timing_from_state, METH_VARARGS | METH_CLASS, NULL},
    {"__copy__", (PyCFunction)timing_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)timing_copy, METH_O, NULL},
    {"__reduce__", (PyCFunction)timing_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef timing_members[] = {
    {"min", T_ULONGLONG, offsetof(fs_timing_object, timing.min), READONLY, fs_doc_FrameTiming_min},
    {"max", T_ULONGLONG, offsetof(fs_timing_object, timing.max), READONLY, fs_doc_FrameTiming_max},
    {"sum", T_ULONGLONG, offsetof(fs_timing_object, timing.sum), READONLY, fs_doc_FrameTiming_sum},
    {"drawn", T_ULONGLONG, offsetof(fs_timing_object, timing.drawn), READONLY,
     fs_doc_FrameTiming_drawn},
    {"skipped", T_ULONGLONG, offsetof(fs_timing_object, timing.skipped), READONLY,
     fs_doc_FrameTiming_skipped},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef timing_getset[] = {
    {"count", (getter)timing_count, NULL, fs_doc_FrameTiming_count, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot timing_slots[] = {
    {Py_tp_doc, (void *)fs_doc_FrameTiming},
    {Py_tp_new, (void *)timing_new},
    {Py_tp_dealloc, (void *)fs_dealloc},
    {Py_tp_methods, timing_methods},
    {Py_tp_members, timing_members},
    {Py_tp_getset, timing_getset},
    {Py_tp_richcompare, (void *)timing_richcompare},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_tp_repr, (void *)timing_repr},
    {0, NULL},
};

PyType_Spec fs_timing_spec = {
    .name = "fixedstep.native.FrameTiming",
    .basicsize = sizeof(fs_timing_object),
    .flags = FS_TYPE_FLAGS,
    .slots = timing_slots,
};
