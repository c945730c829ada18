/* FrameLoop, and the batches over it. The reference is FrameLoop in src/fixedstep/reference.py. */
#include "fs_types.h"

#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

static fs_loop loop_snapshot(fs_loop_object *self)
{
    fs_loop loop;
    FS_LOCK(self);
    loop = self->loop;
    FS_UNLOCK();
    return loop;
}

/* A new reference: the timestamp, or None before the first frame of a loop without start. */
static PyObject *loop_last(const fs_loop *loop)
{
    return loop->started ? PyLong_FromUnsignedLongLong(loop->last) : fs_none();
}

static PyObject *loop_state(fs_loop_object *self, PyObject *Py_UNUSED(ignored))
{
    const fs_loop loop = loop_snapshot(self);
    PyObject *last = loop_last(&loop);
    if (last == NULL) {
        return NULL;
    }
    if (loop.scale == loop.rate_scale && loop.unit == loop.rate_unit) {
        return Py_BuildValue("(KKINKK)", loop.scale, loop.unit, loop.budget, last, loop.bank,
                             loop.tick);
    }
    return Py_BuildValue("(KKINKKKK)", loop.scale, loop.unit, loop.budget, last, loop.bank,
                         loop.tick, loop.rate_scale, loop.rate_unit);
}

/* The loop that these numbers describe, which were checked in Python. Takes over the reference to them. */
static bool loop_of_numbers(PyObject *numbers, fs_loop *loop)
{
    if (numbers == NULL) {
        return false;
    }
    unsigned long long scale, unit, bank, tick, rate_scale, rate_unit;
    unsigned int budget;
    PyObject *last;
    bool valid = PyArg_ParseTuple(numbers, "KKIOKK|KK", &scale, &unit, &budget, &last, &bank, &tick,
                                  &rate_scale, &rate_unit);
    if (valid) {
        const bool speed = PyTuple_Size(numbers) == 8;
        *loop = (fs_loop){
            .scale = scale,
            .unit = unit,
            .bank = bank,
            .tick = tick,
            .rate_scale = speed ? rate_scale : scale,
            .rate_unit = speed ? rate_unit : unit,
            .budget = budget,
            .started = last != Py_None,
        };
        if (loop->started) {
            loop->last = PyLong_AsUnsignedLongLong(last);
            valid = PyErr_Occurred() == NULL;
        }
    }
    Py_DECREF(numbers);
    return valid;
}

static PyObject *loop_from(PyTypeObject *type, PyObject *numbers)
{
    fs_loop loop;
    fs_loop_object *self = NULL;
    if (loop_of_numbers(numbers, &loop)
        && (self = FS_NEW(fs_loop_object, PyType_GetModuleState(type), type)) != NULL) {
        self->loop = loop;
    }
    return (PyObject *)self;
}

FS_GLUE(loop, fs_loop_object, "FrameLoop", "frame_loop")

static PyObject *loop_copy(fs_loop_object *self, PyObject *Py_UNUSED(ignored))
{
    fs_loop_object *copy = FS_NEW(fs_loop_object, self->state, Py_TYPE(self));
    if (copy != NULL) {
        copy->loop = loop_snapshot(self);
    }
    return (PyObject *)copy;
}

static PyObject *loop_begin_frame(fs_loop_object *self, PyObject *now)
{
    uint64_t at;
    if (!fs_as_timestamp(self->state, now, &at)) {
        return NULL;
    }
    fs_plan_object *plan = fs_new_plan(self->state);
    if (plan != NULL) {
        FS_LOCK(self);
        plan->plan = fs_loop_begin_frame(&self->loop, at);
        FS_UNLOCK();
    }
    return (PyObject *)plan;
}

static PyObject *loop_resync(fs_loop_object *self, PyObject *now)
{
    uint64_t at;
    if (!fs_as_timestamp(self->state, now, &at)) {
        return NULL;
    }
    FS_LOCK(self);
    fs_loop_resync(&self->loop, at);
    FS_UNLOCK();
    return fs_none();
}

/* For GameLoop: bank, last and tick stay. */
static PyObject *loop_set_scale(fs_loop_object *self, PyObject *args)
{
    PyObject *numbers = loop_state(self, NULL);
    PyObject *head = numbers == NULL ? NULL : Py_BuildValue("(N)", numbers);
    PyObject *whole = head == NULL ? NULL : PySequence_Concat(head, args);
    PyObject *changed =
        whole == NULL ? NULL : fs_call(self->state->configuration, "frame_loop_scale", whole, NULL);
    fs_loop loop;
    Py_XDECREF(head);
    Py_XDECREF(whole);
    if (!loop_of_numbers(changed, &loop)) {
        return NULL;
    }
    FS_LOCK(self);
    self->loop = loop;
    FS_UNLOCK();
    return fs_none();
}

static bool as_ticks(fs_loop_object *self, PyObject *value, uint64_t *ticks)
{
    return fs_as_u64(self->state, "ticks", UINT64_MAX, value, ticks);
}

static PyObject *loop_skip_ticks(fs_loop_object *self, PyObject *count)
{
    uint64_t ticks;
    if (!as_ticks(self, count, &ticks)) {
        return NULL;
    }
    FS_LOCK(self);
    self->loop.tick = fs_add(self->loop.tick, ticks);
    FS_UNLOCK();
    return fs_none();
}

static PyObject *loop_take_back(fs_loop_object *self, PyObject *count)
{
    uint64_t ticks;
    bool enough;
    if (!as_ticks(self, count, &ticks)) {
        return NULL;
    }
    FS_LOCK(self);
    enough = ticks <= self->loop.tick;
    self->loop.tick -= enough ? ticks : 0;
    FS_UNLOCK();
    if (!enough) {
        fs_raise(self->state, "too_many_ticks", count);
        return NULL;
    }
    return fs_none();
}

/* The four columns of a batch, as bytes objects that are filled in place. Where the caller has columns
 * of his own, these hold a block at a time and are copied there: the limited API of 3.10 has no way to
 * the memory of a buffer. */
typedef struct {
    PyObject *column[4];
    size_t capacity;
    size_t count;
    PyObject *out; /* four memoryviews, or NULL */
    size_t copied; /* frames that are in `out` */
} fs_columns;

static const Py_ssize_t item_size[4] = {8, 4, 8, 8};

/* Memory that is new to the process is handed over by the kernel in pages at the first touch, and for a
 * batch of millions that costs as much as the planning. Asking for large pages, as numpy does for its
 * arrays, is a hint and nothing else. At 10**7 frames it takes begin_frames from 16.2 to 10.3 ns a frame. */
static void advise_large_pages(char *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    const size_t large = (size_t)1 << 21;
    if (size >= 2 * large) {
        const size_t before = large - (size_t)((uintptr_t)memory % large);
        (void)madvise(memory + before, size - before, MADV_HUGEPAGE);
    }
#else
    (void)memory;
    (void)size;
#endif
}

/* Room for `capacity` items, with what is there kept. Only an iterator, whose length nobody knew, is
 * copied here more than once; the limited API cannot resize bytes in place. */
static bool columns_resize(fs_columns *columns, size_t capacity)
{
    for (int i = 0; i < 4; i++) {
        PyObject *old = columns->column[i];
        PyObject *new = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)capacity * item_size[i]);
        if (new == NULL) {
            return false;
        }
        advise_large_pages(PyBytes_AsString(new), capacity * (size_t)item_size[i]);
        if (old != NULL) {
            memcpy(PyBytes_AsString(new), PyBytes_AsString(old),
                   columns->count * (size_t)item_size[i]);
            Py_DECREF(old);
        }
        columns->column[i] = new;
    }
    columns->capacity = capacity;
    return true;
}

static void columns_free(fs_columns *columns)
{
    for (int i = 0; i < 4; i++) {
        Py_CLEAR(columns->column[i]);
    }
    Py_CLEAR(columns->out);
}

static PyObject *columns_tuple(const fs_columns *columns)
{
    return PyTuple_Pack(4, columns->column[0], columns->column[1], columns->column[2],
                        columns->column[3]);
}

/* Copy what was planned since the last time into the caller's columns. */
static bool columns_copy_out(fs_state *state, fs_columns *columns)
{
    PyObject *own = columns_tuple(columns);
    PyObject *args = own == NULL ? NULL
                                 : Py_BuildValue("(OnnN)", columns->out, (Py_ssize_t)columns->copied,
                                                 (Py_ssize_t)columns->count, own);
    PyObject *copied = args == NULL ? NULL : fs_call(state->plans, "copy_out", args, NULL);
    Py_XDECREF(args);
    Py_XDECREF(copied);
    columns->copied += columns->count;
    columns->count = 0;
    return copied != NULL;
}

/* The FramePlans. */
static PyObject *columns_plans(fs_state *state, const fs_loop *loop, const fs_columns *columns)
{
    if (columns->out == NULL) {
        return PyObject_CallFunction(state->plans_from, "OKKOOOO", state->plan_type,
                                     loop->rate_scale, loop->rate_unit, columns->column[0],
                                     columns->column[1], columns->column[2], columns->column[3]);
    }
    PyObject *args = Py_BuildValue("(OKKOn)", state->plan_type, loop->rate_scale, loop->rate_unit,
                                   columns->out, (Py_ssize_t)columns->copied);
    PyObject *plans = args == NULL ? NULL : fs_call(state->plans, "plans_in", args, NULL);
    Py_XDECREF(args);
    return plans;
}

static void *columns_at(const fs_columns *columns, int i)
{
    return PyBytes_AsString(columns->column[i]) + columns->count * (size_t)item_size[i];
}

/* Plan one block of timestamps, a bytes object; without the GIL if it is a large one. */
static bool plan_block(PyObject *block, fs_loop *loop, fs_columns *columns, fs_stats *stats)
{
    const uint64_t *timestamps = (const uint64_t *)(const void *)PyBytes_AsString(block);
    const Py_ssize_t size = PyBytes_Size(block);
    const size_t count = (size_t)size / sizeof(uint64_t);
    uint64_t *first_tick = NULL, *dropped = NULL, *remainder = NULL;
    uint32_t *step_count = NULL;
    if (columns != NULL) {
        if (columns->count + count > columns->capacity
            && !columns_resize(columns, 2 * columns->capacity + count)) {
            return false;
        }
        first_tick = columns_at(columns, 0);
        step_count = columns_at(columns, 1);
        dropped = columns_at(columns, 2);
        remainder = columns_at(columns, 3);
        columns->count += count;
    }
    if (size < FS_RELEASE_BYTES) {
        fs_loop_begin_frames(loop, timestamps, count, first_tick, step_count, dropped, remainder,
                             stats);
    }
    else {
        Py_BEGIN_ALLOW_THREADS
        fs_loop_begin_frames(loop, timestamps, count, first_tick, step_count, dropped, remainder,
                             stats);
        Py_END_ALLOW_THREADS
    }
    return true;
}

static bool same_loop(const fs_loop *a, const fs_loop *b)
{
    return a->scale == b->scale && a->unit == b->unit && a->budget == b->budget
        && a->last == b->last && a->bank == b->bank && a->tick == b->tick
        && a->rate_scale == b->rate_scale && a->rate_unit == b->rate_unit
        && a->started == b->started;
}

/* How many timestamps there are, or 0 where that cannot be trusted: `__len__` of an unknown type. */
static size_t length_of(PyObject *timestamps)
{
    if (PyList_CheckExact(timestamps)) {
        return (size_t)PyList_Size(timestamps);
    }
    PyObject *view = PyMemoryView_FromObject(timestamps);
    const Py_ssize_t length = view == NULL ? -1 : PyObject_Size(view);
    Py_XDECREF(view);
    if (length < 0) {
        PyErr_Clear(); /* no buffer, or one without dimensions: the blocks will tell */
        return 0;
    }
    return (size_t)length;
}

/* What a batch found and what it came to. */
typedef struct {
    fs_loop loop_before, loop_after;
    fs_stats tally_before, tally_after;
} fs_batch;

/* Take over what a batch came to, if nobody else moved the loop or the tally in the meantime. The last
 * thing a batch does: where there is no memory for its plans, nothing was planned. */
static bool commit_batch(fs_loop_object *self, fs_stats_object *stats, const fs_batch *batch)
{
    bool untouched;
    PyObject *second = stats == NULL ? (PyObject *)self : (PyObject *)stats;
    (void)second; /* where there is a GIL */
    FS_LOCK_TWO(self, second);
    untouched = same_loop(&self->loop, &batch->loop_before)
             && (stats == NULL || fs_same_stats(&stats->stats, &batch->tally_before));
    if (untouched) {
        self->loop = batch->loop_after;
    }
    if (untouched && stats != NULL) {
        stats->stats = batch->tally_after;
    }
    FS_UNLOCK_TWO();
    if (!untouched) {
        fs_raise(self->state, "loop_changed", NULL);
    }
    return untouched;
}

/* Run copies of the loop and the tally over the timestamps, so that a bad one in the middle leaves
 * everything as it was. */
static bool plan_batch(fs_state *state, fs_loop_object *self, PyObject *timestamps,
                       fs_columns *columns, PyObject *stats, fs_batch *batch)
{
    if (stats != NULL && Py_TYPE(stats) != state->stats_type) {
        fs_raise(state, "wrong_stats", stats);
        return false;
    }
    batch->loop_before = loop_snapshot(self);
    batch->loop_after = batch->loop_before;
    fs_stats *tally = NULL;
    if (stats != NULL) {
        batch->tally_before = fs_stats_snapshot((fs_stats_object *)stats);
        batch->tally_after = batch->tally_before;
        tally = &batch->tally_after;
    }

    PyObject *blocks = fs_ask(state->arguments, "timestamp_blocks", timestamps);
    if (blocks == NULL) {
        return false;
    }
    /* The first block comes before the columns: getting it checks what `timestamps` is. */
    PyObject *block = PyIter_Next(blocks);
    if (PyErr_Occurred() != NULL
        || (columns != NULL && columns->out == NULL
            && !columns_resize(columns, length_of(timestamps)))) {
        Py_XDECREF(block);
        Py_DECREF(blocks);
        return false;
    }
    for (; block != NULL; block = PyIter_Next(blocks)) {
        const bool planned =
            plan_block(block, &batch->loop_after, columns, tally)
            && (columns == NULL || columns->out == NULL || columns_copy_out(state, columns));
        Py_DECREF(block);
        if (!planned) {
            break;
        }
    }
    Py_DECREF(blocks);
    if (PyErr_Occurred() != NULL) {
        return false;
    }
    return columns == NULL || columns->out != NULL || columns->count == columns->capacity
        || columns_resize(columns, columns->count);
}

static PyObject *loop_begin_frames(fs_loop_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"timestamps", "stats", "out", NULL};
    PyObject *timestamps, *stats = Py_None, *out = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:begin_frames", names, &timestamps, &stats,
                                     &out)) {
        return NULL;
    }
    fs_state *state = self->state;
    fs_columns columns = {{NULL, NULL, NULL, NULL}, 0, 0, NULL, 0};
    fs_batch batch;
    PyObject *plans = NULL;
    if (stats == Py_None) {
        stats = NULL;
    }
    if (out != Py_None && (columns.out = fs_ask(state->plans, "out_columns", out)) == NULL) {
        return NULL;
    }
    if (plan_batch(state, self, timestamps, &columns, stats, &batch)) {
        plans = columns_plans(state, &batch.loop_before, &columns);
        if (plans != NULL && !commit_batch(self, (fs_stats_object *)stats, &batch)) {
            Py_CLEAR(plans);
        }
    }
    columns_free(&columns);
    return plans;
}

static PyObject *loop_digest_frames(fs_loop_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"timestamps", "stats", NULL};
    PyObject *timestamps, *stats;
    fs_batch batch;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:digest_frames", names, &timestamps, &stats)
        || !plan_batch(self->state, self, timestamps, NULL, stats, &batch)
        || !commit_batch(self, (fs_stats_object *)stats, &batch)) {
        return NULL;
    }
    return fs_none();
}

static PyObject *loop_simulated(fs_loop_object *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(
        fs_sim_time(self->loop.tick, self->loop.rate_scale, self->loop.rate_unit));
}

static PyObject *loop_remainder(fs_loop_object *self, void *Py_UNUSED(closure))
{
    const fs_loop loop = loop_snapshot(self);
    return PyLong_FromUnsignedLongLong(loop.bank / (loop.unit / loop.rate_unit));
}

static PyObject *loop_get_last(fs_loop_object *self, void *Py_UNUSED(closure))
{
    const fs_loop loop = loop_snapshot(self);
    return loop_last(&loop);
}

static PyObject *loop_timestep(fs_loop_object *self, void *Py_UNUSED(closure))
{
    return PyObject_CallFunction(self->state->timestep_of, "KK",
                                 self->loop.rate_scale, self->loop.rate_unit);
}

static PyObject *loop_budget(fs_loop_object *self, void *Py_UNUSED(closure))
{
    return PyObject_CallFunction(self->state->budget_type, "I",
                                 self->loop.budget);
}

static PyObject *loop_richcompare(fs_loop_object *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != Py_TYPE(self)) {
        return fs_not_implemented();
    }
    const fs_loop a = loop_snapshot(self);
    const fs_loop b = loop_snapshot((fs_loop_object *)other);
    return fs_equality(same_loop(&a, &b), op);
}

static PyMethodDef loop_methods[] = {
    {"begin_frame", (PyCFunction)loop_begin_frame, METH_O, fs_doc_FrameLoop_begin_frame},
    {"begin_frames", (PyCFunction)(void (*)(void))loop_begin_frames, METH_VARARGS | METH_KEYWORDS,
     fs_doc_FrameLoop_begin_frames},
    {"digest_frames", (PyCFunction)(void (*)(void))loop_digest_frames,
     METH_VARARGS | METH_KEYWORDS, fs_doc_FrameLoop_digest_frames},
    {"resync", (PyCFunction)loop_resync, METH_O, fs_doc_FrameLoop_resync},
    {"_set_scale", (PyCFunction)loop_set_scale, METH_VARARGS, NULL},
    {"_skip_ticks", (PyCFunction)loop_skip_ticks, METH_O, NULL},
    {"_take_back", (PyCFunction)loop_take_back, METH_O, NULL},
    {"_state", (PyCFunction)loop_state, METH_NOARGS, NULL},
    {"_from_state", (PyCFunction)loop_from_state, METH_VARARGS | METH_CLASS, NULL},
    {"__copy__", (PyCFunction)loop_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)loop_copy, METH_O, NULL},
    {"__reduce__", (PyCFunction)loop_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef loop_members[] = {
    {"tick", T_ULONGLONG, offsetof(fs_loop_object, loop.tick), READONLY, fs_doc_FrameLoop_tick},
    {"_bank", T_ULONGLONG, offsetof(fs_loop_object, loop.bank), READONLY, NULL},
    {"_scale", T_ULONGLONG, offsetof(fs_loop_object, loop.scale), READONLY, NULL},
    {"_unit", T_ULONGLONG, offsetof(fs_loop_object, loop.unit), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef loop_getset[] = {
    {"remainder", (getter)loop_remainder, NULL, fs_doc_FrameLoop_remainder, NULL},
    {"last", (getter)loop_get_last, NULL, fs_doc_FrameLoop_last, NULL},
    {"simulated", (getter)loop_simulated, NULL, fs_doc_FrameLoop_simulated, NULL},
    {"timestep", (getter)loop_timestep, NULL, fs_doc_FrameLoop_timestep, NULL},
    {"budget", (getter)loop_budget, NULL, fs_doc_FrameLoop_budget, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot loop_slots[] = {
    {Py_tp_doc, (void *)fs_doc_FrameLoop},
    {Py_tp_new, (void *)loop_new},
    {Py_tp_dealloc, (void *)fs_dealloc},
    {Py_tp_methods, loop_methods},
    {Py_tp_members, loop_members},
    {Py_tp_getset, loop_getset},
    {Py_tp_richcompare, (void *)loop_richcompare},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_tp_repr, (void *)loop_repr},
    {0, NULL},
};

PyType_Spec fs_loop_spec = {
    .name = "fixedstep.native.FrameLoop",
    .basicsize = sizeof(fs_loop_object),
    .flags = FS_TYPE_FLAGS,
    .slots = loop_slots,
};
