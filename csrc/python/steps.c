/* Steps: the iterator over a plan. The reference is Steps in src/fixedstep/reference.py. */
#include "fs_types.h"

/* Where an iterator stands at one moment. */
static void steps_position(fs_steps_object *self, uint64_t *tick, uint32_t *count)
{
    FS_LOCK(self);
    *tick = self->tick;
    *count = self->count;
    FS_UNLOCK();
}

static PyObject *steps_state(fs_steps_object *self, PyObject *Py_UNUSED(ignored))
{
    uint64_t tick;
    uint32_t count;
    steps_position(self, &tick, &count);
    return Py_BuildValue("(KIKK)", tick, count, self->scale, self->unit);
}

PyObject *fs_new_steps(fs_state *state, uint64_t tick, uint32_t count, uint64_t scale,
                       uint64_t unit)
{
    fs_steps_object *self;
    if (state->spare_steps != NULL) {
        self = (fs_steps_object *)PyObject_Init(state->spare_steps, state->steps_type);
        state->spare_steps = NULL;
    }
    else if ((self = FS_NEW(fs_steps_object, state, state->steps_type)) == NULL) {
        return NULL;
    }
    self->tick = tick;
    self->count = count;
    self->scale = scale;
    self->unit = unit;
    self->dt = NULL;
    return (PyObject *)self;
}

/* Takes over the reference to `numbers`, which were checked in Python. */
static PyObject *steps_from(PyTypeObject *type, PyObject *numbers)
{
    if (numbers == NULL) {
        return NULL;
    }
    unsigned long long tick, scale, unit;
    unsigned int count;
    PyObject *self = NULL;
    if (PyArg_ParseTuple(numbers, "KIKK", &tick, &count, &scale, &unit)) {
        self = fs_new_steps(PyType_GetModuleState(type), tick, count, scale, unit);
    }
    Py_DECREF(numbers);
    return self;
}

FS_GLUE(steps, fs_steps_object, "Steps", "steps")

static void steps_dealloc(fs_steps_object *self)
{
    Py_XDECREF(self->dt);
    fs_dealloc_spare((PyObject *)self, &self->state->spare_steps);
}

/* The length of the next step: a new reference. */
static PyObject *step_length(fs_steps_object *self, uint64_t at)
{
    if (self->scale != 1) {
        const uint64_t next = fs_sim_time(fs_add(self->tick, 1), self->scale, self->unit);
        return PyLong_FromUnsignedLongLong(next - at);
    }
    if (self->dt == NULL && (self->dt = PyLong_FromUnsignedLongLong(self->unit)) == NULL) {
        return NULL;
    }
    Py_INCREF(self->dt);
    return self->dt;
}

/* A step without its numbers, or NULL. */
static PyObject *empty_step(fs_steps_object *self)
{
    fs_state *state = self->state;
    PyObject *step = state->step_alloc((PyTypeObject *)state->step_type, 3);
    /* A named tuple belongs to the garbage collector: to make one can run a finalizer, and that one may
     * have taken from this very iterator. Nothing after this can: integers are not collected. */
    if (self->count == 0) {
        Py_CLEAR(step);
    }
    return step;
}

/* A step with its numbers, of which it takes over the references, even where it fails. */
static PyObject *whole_step(fs_state *state, PyObject *tick, PyObject *dt, PyObject *sim_time)
{
    PyObject *arguments = Py_BuildValue("((NNN))", tick, dt, sim_time);
    PyObject *step = NULL;
    if (arguments != NULL) {
        step = state->tuple_new((PyTypeObject *)state->step_type, arguments, NULL);
        Py_DECREF(arguments);
    }
    return step;
}

/* The next step, or NULL: at the end without an error. */
static PyObject *take_step(fs_steps_object *self)
{
    if (self->count == 0) {
        return NULL;
    }
    fs_state *state = self->state;
    PyObject *step = NULL;
    if (state->step_alloc != NULL && (step = empty_step(self)) == NULL) {
        return NULL;
    }
    const uint64_t at = fs_sim_time(self->tick, self->scale, self->unit);
    PyObject *tick = PyLong_FromUnsignedLongLong(self->tick);
    PyObject *dt = step_length(self, at);
    PyObject *sim_time = PyLong_FromUnsignedLongLong(at);
    if (tick == NULL || dt == NULL || sim_time == NULL) {
        Py_XDECREF(tick);
        Py_XDECREF(dt);
        Py_XDECREF(sim_time);
        Py_XDECREF(step);
        return NULL;
    }
    if (step != NULL) {
        (void)PyTuple_SetItem(step, 0, tick); /* on a new tuple of three: cannot fail */
        (void)PyTuple_SetItem(step, 1, dt);
        (void)PyTuple_SetItem(step, 2, sim_time);
    }
    else if ((step = whole_step(state, tick, dt, sim_time)) == NULL) {
        return NULL;
    }
    self->count--;
    self->tick = fs_add(self->tick, 1);
    return step;
}

static PyObject *steps_next(fs_steps_object *self)
{
    PyObject *step;
    FS_LOCK(self);
    step = take_step(self);
    FS_UNLOCK();
    return step;
}

static PyObject *steps_iter(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static Py_ssize_t steps_length(fs_steps_object *self)
{
#if SIZE_MAX <= UINT32_MAX
    if (self->count > (uint32_t)PY_SSIZE_T_MAX) {
        PyErr_SetString(PyExc_OverflowError, "cannot fit 'int' into an index-sized integer");
        return -1;
    }
#endif
    return (Py_ssize_t)self->count;
}

static PyObject *steps_copy(fs_steps_object *self, PyObject *Py_UNUSED(ignored))
{
    uint64_t tick;
    uint32_t count;
    steps_position(self, &tick, &count);
    return fs_new_steps(self->state, tick, count, self->scale, self->unit);
}

static PyObject *steps_richcompare(fs_steps_object *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != Py_TYPE(self)) {
        return fs_not_implemented();
    }
    fs_steps_object *b = (fs_steps_object *)other;
    uint64_t tick, other_tick;
    uint32_t count, other_count;
    steps_position(self, &tick, &count);
    steps_position(b, &other_tick, &other_count);
    return fs_equality(tick == other_tick && count == other_count && self->scale == b->scale
                           && self->unit == b->unit,
                       op);
}

static PyMethodDef steps_methods[] = {
    {"_state", (PyCFunction)steps_state, METH_NOARGS, NULL},
    {"_from_state", (PyCFunction)steps_from_state, METH_VARARGS | METH_CLASS, NULL},
    {"__copy__", (PyCFunction)steps_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)steps_copy, METH_O, NULL},
    {"__reduce__", (PyCFunction)steps_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot steps_slots[] = {
    {Py_tp_doc, (void *)fs_doc_Steps},
    {Py_tp_new, (void *)steps_new},
    {Py_tp_dealloc, (void *)steps_dealloc},
    {Py_tp_methods, steps_methods},
    {Py_tp_iter, (void *)steps_iter},
    {Py_tp_iternext, (void *)steps_next},
    {Py_sq_length, (void *)steps_length},
    {Py_tp_richcompare, (void *)steps_richcompare},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_tp_repr, (void *)steps_repr},
    {0, NULL},
};

PyType_Spec fs_steps_spec = {
    .name = "fixedstep.native.Steps",
    .basicsize = sizeof(fs_steps_object),
    .flags = FS_TYPE_FLAGS,
    .slots = steps_slots,
};
