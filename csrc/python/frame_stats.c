/* FrameStats. The reference is FrameStats in src/fixedstep/reference.py. */
#include "fs_types.h"

static PyObject *stats_make(fs_state *state, fs_stats stats)
{
    fs_stats_object *self = FS_NEW(fs_stats_object, state, state->stats_type);
    if (self != NULL) {
        self->stats = stats;
    }
    return (PyObject *)self;
}

/* What the parts of a call are for one of the numbers of FS_STATS. */
#define FORMAT(name) "K"
#define VALUE(name) , (unsigned long long)stats.name
#define VARIABLE(name) unsigned long long name;
#define POINTER(name) , &name
#define FIELD(name) .name = name,
#define MEMBER(name)                                                                                \
    {#name, T_ULONGLONG, offsetof(fs_stats_object, stats.name), READONLY, fs_doc_FrameStats_##name},

static PyObject *stats_state(fs_stats_object *self, PyObject *Py_UNUSED(ignored))
{
    const fs_stats stats = fs_stats_snapshot(self);
    return Py_BuildValue("(" FS_STATS(FORMAT) ")" FS_STATS(VALUE));
}

/* Takes over the reference to `numbers`, which were checked in Python. */
static PyObject *stats_from(PyTypeObject *type, PyObject *numbers)
{
    if (numbers == NULL) {
        return NULL;
    }
    FS_STATS(VARIABLE)
    PyObject *self = NULL;
    if (PyArg_ParseTuple(numbers, FS_STATS(FORMAT) FS_STATS(POINTER))) {
        self = stats_make(PyType_GetModuleState(type), (fs_stats){FS_STATS(FIELD)});
    }
    Py_DECREF(numbers);
    return self;
}

FS_GLUE(stats, fs_stats_object, "FrameStats", "frame_stats")

static PyObject *stats_absorb(fs_stats_object *self, PyObject *arg)
{
    if (Py_TYPE(arg) != self->state->plan_type) {
        fs_raise(self->state, "wrong_plan", arg);
        return NULL;
    }
    FS_LOCK(self);
    fs_stats_absorb(&self->stats, &((fs_plan_object *)arg)->plan);
    FS_UNLOCK();
    return fs_none();
}

static PyObject *stats_json(fs_stats_object *self, PyObject *Py_UNUSED(ignored))
{
    return fs_text(self->state, "frame_stats_json", stats_state(self, NULL));
}

static PyObject *stats_richcompare(fs_stats_object *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != Py_TYPE(self)) {
        return fs_not_implemented();
    }
    const fs_stats a = fs_stats_snapshot(self);
    const fs_stats b = fs_stats_snapshot((fs_stats_object *)other);
    return fs_equality(fs_same_stats(&a, &b), op);
}

static PyObject *stats_copy(fs_stats_object *self, PyObject *Py_UNUSED(ignored))
{
    return stats_make(self->state, fs_stats_snapshot(self));
}

static PyMethodDef stats_methods[] = {
    {"absorb", (PyCFunction)stats_absorb, METH_O, fs_doc_FrameStats_absorb},
    {"json", (PyCFunction)stats_json, METH_NOARGS, fs_doc_FrameStats_json},
    {"_state", (PyCFunction)stats_state, METH_NOARGS, NULL},
    {"_from_state", (PyCFunction)stats_from_state, METH_VARARGS | METH_CLASS, NULL},
    {"__copy__", (PyCFunction)stats_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)stats_copy, METH_O, NULL},
    {"__reduce__", (PyCFunction)stats_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef stats_members[] = {
    FS_STATS(MEMBER)
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot stats_slots[] = {
    {Py_tp_doc, (void *)fs_doc_FrameStats},
    {Py_tp_new, (void *)stats_new},
    {Py_tp_dealloc, (void *)fs_dealloc},
    {Py_tp_methods, stats_methods},
    {Py_tp_members, stats_members},
    {Py_tp_richcompare, (void *)stats_richcompare},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_tp_repr, (void *)stats_repr},
    {0, NULL},
};

PyType_Spec fs_stats_spec = {
    .name = "fixedstep.native.FrameStats",
    .basicsize = sizeof(fs_stats_object),
    .flags = FS_TYPE_FLAGS,
    .slots = stats_slots,
};
