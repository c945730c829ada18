/* FramePlan. The reference is FramePlan in src/fixedstep/reference.py. */
#include "fs_types.h"

static PyObject *plan_state(fs_plan_object *self, PyObject *Py_UNUSED(ignored))
{
    const fs_plan *plan = &self->plan;
    return Py_BuildValue("(KIKKKK)", plan->first_tick, plan->step_count, plan->dropped,
                         plan->remainder, plan->scale, plan->unit);
}

/* Takes over the reference to `numbers`, which were checked in Python. */
static PyObject *plan_from(PyTypeObject *type, PyObject *numbers)
{
    if (numbers == NULL) {
        return NULL;
    }
    unsigned long long first_tick, dropped, remainder, scale, unit;
    unsigned int step_count;
    fs_plan_object *self = NULL;
    if (PyArg_ParseTuple(numbers, "KIKKKK", &first_tick, &step_count, &dropped, &remainder, &scale,
                         &unit)
        && (self = fs_new_plan(PyType_GetModuleState(type))) != NULL) {
        self->plan = (fs_plan){first_tick, dropped, remainder, scale, unit, step_count};
    }
    Py_DECREF(numbers);
    return (PyObject *)self;
}

FS_GLUE(plan, fs_plan_object, "FramePlan", "frame_plan")

/* For a batch, whose numbers are right, plan by plan. What could stop the process is checked all the
 * same. */
static PyObject *plan_of_batch(PyObject *type, PyObject *args)
{
    unsigned long long first_tick, dropped, remainder, scale, unit;
    unsigned int step_count;
    if (!PyArg_ParseTuple(args, "KIKKKK", &first_tick, &step_count, &dropped, &remainder, &scale,
                          &unit)) {
        return NULL;
    }
    if (scale == 0 || remainder >= unit) {
        return plan_from_state(type, args);
    }
    fs_plan_object *self = fs_new_plan(PyType_GetModuleState((PyTypeObject *)type));
    if (self != NULL) {
        self->plan = (fs_plan){first_tick, dropped, remainder, scale, unit, step_count};
    }
    return (PyObject *)self;
}

static void plan_dealloc(fs_plan_object *self)
{
    fs_dealloc_spare((PyObject *)self, &self->state->spare_plan);
}

static PyObject *plan_steps(fs_plan_object *self, PyObject *Py_UNUSED(ignored))
{
    const fs_plan *plan = &self->plan;
    return fs_new_steps(self->state, plan->first_tick, plan->step_count, plan->scale, plan->unit);
}

static PyObject *plan_alpha(fs_plan_object *self, PyObject *Py_UNUSED(ignored))
{
    return PyFloat_FromDouble((double)fs_plan_alpha(&self->plan));
}

static PyObject *plan_ticks(fs_plan_object *self, void *Py_UNUSED(closure))
{
    const uint64_t first = self->plan.first_tick;
    const uint64_t count = self->plan.step_count;
    PyObject *start = PyLong_FromUnsignedLongLong(first);
    PyObject *stop = NULL;
    if (first <= UINT64_MAX - count) {
        stop = PyLong_FromUnsignedLongLong(first + count);
    }
    else { /* the range has all its numbers, even beyond 64 bits */
        PyObject *length = PyLong_FromUnsignedLongLong(count);
        if (start != NULL && length != NULL) {
            stop = PyNumber_Add(start, length);
        }
        Py_XDECREF(length);
    }
    PyObject *ticks = NULL;
    if (start != NULL && stop != NULL) {
        ticks = PyObject_CallFunctionObjArgs((PyObject *)&PyRange_Type, start, stop, NULL);
    }
    Py_XDECREF(start);
    Py_XDECREF(stop);
    return ticks;
}

static PyObject *plan_timestep(fs_plan_object *self, void *Py_UNUSED(closure))
{
    return PyObject_CallFunction(self->state->timestep_of, "KK",
                                 self->plan.scale, self->plan.unit);
}

static PyObject *plan_richcompare(fs_plan_object *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != Py_TYPE(self)) {
        return fs_not_implemented();
    }
    const fs_plan *a = &self->plan;
    const fs_plan *b = &((fs_plan_object *)other)->plan;
    return fs_equality(a->first_tick == b->first_tick && a->step_count == b->step_count
                           && a->dropped == b->dropped && a->remainder == b->remainder
                           && a->scale == b->scale && a->unit == b->unit,
                       op);
}

static Py_hash_t plan_hash(fs_plan_object *self)
{
    return fs_hash_numbers(plan_state(self, NULL));
}

static PyObject *plan_copy(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Py_INCREF(self);
    return self;
}

static PyMethodDef plan_methods[] = {
    {"steps", (PyCFunction)plan_steps, METH_NOARGS, fs_doc_FramePlan_steps},
    {"alpha", (PyCFunction)plan_alpha, METH_NOARGS, fs_doc_FramePlan_alpha},
    {"_state", (PyCFunction)plan_state, METH_NOARGS, NULL},
    {"_from_state", (PyCFunction)plan_from_state, METH_VARARGS | METH_CLASS, NULL},
    {"_of_batch", (PyCFunction)plan_of_batch, METH_VARARGS | METH_CLASS, NULL},
    {"__copy__", (PyCFunction)plan_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)plan_copy, METH_O, NULL},
    {"__reduce__", (PyCFunction)plan_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef plan_members[] = {
    {"first_tick", T_ULONGLONG, offsetof(fs_plan_object, plan.first_tick), READONLY,
     fs_doc_FramePlan_first_tick},
    {"step_count", T_UINT, offsetof(fs_plan_object, plan.step_count), READONLY,
     fs_doc_FramePlan_step_count},
    {"dropped", T_ULONGLONG, offsetof(fs_plan_object, plan.dropped), READONLY,
     fs_doc_FramePlan_dropped},
    {"remainder", T_ULONGLONG, offsetof(fs_plan_object, plan.remainder), READONLY,
     fs_doc_FramePlan_remainder},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef plan_getset[] = {
    {"ticks", (getter)plan_ticks, NULL, fs_doc_FramePlan_ticks, NULL},
    {"timestep", (getter)plan_timestep, NULL, fs_doc_FramePlan_timestep, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot plan_slots[] = {
    {Py_tp_doc, (void *)fs_doc_FramePlan},
    {Py_tp_new, (void *)plan_new},
    {Py_tp_dealloc, (void *)plan_dealloc},
    {Py_tp_methods, plan_methods},
    {Py_tp_members, plan_members},
    {Py_tp_getset, plan_getset},
    {Py_tp_richcompare, (void *)plan_richcompare},
    {Py_tp_hash, (void *)plan_hash},
    {Py_tp_repr, (void *)plan_repr},
    {0, NULL},
};

PyType_Spec fs_plan_spec = {
    .name = "fixedstep.native.FramePlan",
    .basicsize = sizeof(fs_plan_object),
    .flags = FS_TYPE_FLAGS,
    .slots = plan_slots,
};
