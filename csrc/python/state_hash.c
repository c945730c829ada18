/* StateHash. The reference is StateHash in src/fixedstep/reference.py. */
#include "fs_types.h"

#include <string.h>

static PyObject *hash_make(fs_state *state, uint64_t value)
{
    fs_hash_object *self = FS_NEW(fs_hash_object, state, state->hash_type);
    if (self != NULL) {
        self->value = value;
    }
    return (PyObject *)self;
}

static PyObject *hash_state(fs_hash_object *self, PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue("(K)", self->value);
}

/* Takes over the reference to `numbers`, which were checked in Python. */
static PyObject *hash_from(PyTypeObject *type, PyObject *numbers)
{
    if (numbers == NULL) {
        return NULL;
    }
    unsigned long long value;
    PyObject *self = NULL;
    if (PyArg_ParseTuple(numbers, "K", &value)) {
        self = hash_make(PyType_GetModuleState(type), value);
    }
    Py_DECREF(numbers);
    return self;
}

FS_GLUE(hash, fs_hash_object, "StateHash", "state_hash")

static PyObject *hash_new_or_fresh(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (kwargs == NULL && PyTuple_Size(args) == 0) {
        return hash_make(PyType_GetModuleState(type), FS_FNV_OFFSET);
    }
    return hash_new(type, args, kwargs);
}

/* Hash a bytes object; without the GIL if it is a large one. */
static uint64_t absorb_exact_bytes(uint64_t value, PyObject *bytes)
{
    const char *data = PyBytes_AsString(bytes);
    const Py_ssize_t size = PyBytes_Size(bytes);
    if (size < FS_RELEASE_BYTES) {
        return fs_hash_bytes(value, data, (size_t)size);
    }
    Py_BEGIN_ALLOW_THREADS
    value = fs_hash_bytes(value, data, (size_t)size);
    Py_END_ALLOW_THREADS
    return value;
}

/* The limited API of 3.10 leaves out the buffer protocol, which belongs to the stable ABI from 3.11 on and was
 * the same before: this is Py_buffer, and the numbers of its two slots. */
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} fs_buffer;

#define FS_SLOT_GETBUFFER 1
#define FS_SLOT_RELEASEBUFFER 2
#define FS_BUFFER_FULL_RO 0x011c /* what memoryview() asks for */

typedef int (*fs_getbuffer)(PyObject *, fs_buffer *, int);
typedef void (*fs_releasebuffer)(PyObject *, fs_buffer *);

static bool c_contiguous(const fs_buffer *view)
{
    if (view->suboffsets != NULL) {
        return false;
    }
    Py_ssize_t stride = view->itemsize;
    for (int i = view->ndim; i-- > 0;) {
        if (view->strides != NULL && view->shape[i] != 1 && view->strides[i] != stride) {
            return false;
        }
        stride *= view->shape[i];
    }
    return true;
}

/* Hash a buffer that is small and plain in place. False where it is not, or raised: `byte_view` tells what
 * it is. A format with a name in it may hold any letter; "O" is a Python object. */
static bool absorb_small_buffer(uint64_t *value, PyObject *buffer)
{
    const fs_getbuffer get = (fs_getbuffer)PyType_GetSlot(Py_TYPE(buffer), FS_SLOT_GETBUFFER);
    fs_buffer view = {.obj = NULL};
    if (get == NULL) {
        return false;
    }
    if (get(buffer, &view, FS_BUFFER_FULL_RO) < 0) {
        return false;
    }
    const bool plain = view.len > 0 && view.len < FS_RELEASE_BYTES && c_contiguous(&view)
                    && (view.format == NULL || strpbrk(view.format, "O:") == NULL);
    if (plain) {
        *value = fs_hash_bytes(*value, view.buf, (size_t)view.len);
    }
    if (view.obj != NULL) { /* what PyBuffer_Release does */
        const fs_releasebuffer release =
            (fs_releasebuffer)PyType_GetSlot(Py_TYPE(view.obj), FS_SLOT_RELEASEBUFFER);
        if (release != NULL) {
            release(view.obj, &view);
        }
        Py_DECREF(view.obj);
    }
    return plain;
}

/* Hash any other buffer, by private copies of 64 KiB: these may be read without the GIL while other
 * threads write to the source, and cost a seventh of the hashing, more or less. */
static bool absorb_view(uint64_t *value, PyObject *view)
{
    const Py_ssize_t size = PyObject_Size(view);
    for (Py_ssize_t start = 0; start < size; start += FS_RELEASE_BYTES) {
        /* a slice ends where its view does */
        PyObject *slice = PySequence_GetSlice(view, start, start + FS_RELEASE_BYTES);
        PyObject *bytes = slice == NULL ? NULL : PyBytes_FromObject(slice);
        Py_XDECREF(slice);
        if (bytes == NULL) {
            return false;
        }
        *value = absorb_exact_bytes(*value, bytes);
        Py_DECREF(bytes);
        if (PyErr_CheckSignals() < 0) {
            return false;
        }
    }
    return size >= 0;
}

static bool absorb_bytes(fs_state *state, uint64_t *value, PyObject *buffer)
{
    if (PyBytes_CheckExact(buffer)) {
        *value = absorb_exact_bytes(*value, buffer);
        return true;
    }
    if (absorb_small_buffer(value, buffer)) {
        return true;
    }
    if (PyErr_Occurred() != NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            return false; /* an interrupt */
        }
        PyErr_Clear();
    }
    PyObject *view = fs_ask(state->arguments, "byte_view", buffer);
    if (view == NULL) {
        return false;
    }
    const bool absorbed = absorb_view(value, view);
    Py_DECREF(view);
    return absorbed;
}

static bool absorb_u64(fs_state *state, uint64_t *value, PyObject *arg)
{
    uint64_t number;
    if (!fs_as_u64(state, "u64", UINT64_MAX, arg, &number)) {
        return false;
    }
    *value = fs_hash_u64(*value, number);
    return true;
}

static bool absorb_u32(fs_state *state, uint64_t *value, PyObject *arg)
{
    uint64_t number;
    if (!fs_as_u64(state, "u32", UINT32_MAX, arg, &number)) {
        return false;
    }
    *value = fs_hash_u32(*value, (uint32_t)number);
    return true;
}

static bool absorb_i64(fs_state *state, uint64_t *value, PyObject *arg)
{
    int overflow = 1;
    long long number = 0;
    if (PyLong_CheckExact(arg)) {
        number = PyLong_AsLongLongAndOverflow(arg, &overflow);
    }
    if (overflow != 0) {
        PyObject *checked = fs_ask(state->arguments, "i64", arg);
        if (checked == NULL) {
            return false;
        }
        number = PyLong_AsLongLong(checked); /* in range, so it cannot fail */
        Py_DECREF(checked);
    }
    *value = fs_hash_u64(*value, (uint64_t)number);
    return true;
}

static bool as_double(fs_state *state, PyObject *arg, double *value)
{
    if (PyFloat_CheckExact(arg)) {
        *value = PyFloat_AsDouble(arg);
        return true;
    }
    PyObject *checked = fs_ask(state->arguments, "real", arg);
    if (checked == NULL) {
        return false;
    }
    *value = PyFloat_AsDouble(checked);
    Py_DECREF(checked);
    return true;
}

static bool absorb_f64_bits(fs_state *state, uint64_t *value, PyObject *arg)
{
    double number;
    uint64_t bits;
    if (!as_double(state, arg, &number)) {
        return false;
    }
    memcpy(&bits, &number, sizeof bits);
    *value = fs_hash_u64(*value, bits);
    return true;
}

static const uint64_t infinite = UINT64_C(0x7ff0000000000000);

/* The bits of the float32 nearest to a double, by its bits, without the sign; ties to even. In integers,
 * since a conversion is at the mercy of the processor's mode: one library linked with -ffast-math makes
 * the whole process take the smallest numbers for 0. A NaN keeps its upper payload, and is quiet. */
static uint64_t f32_size(uint64_t size)
{
    if (size >= infinite) {
        return size == infinite ? 0x7f800000u : 0x7fc00000u | (size >> 29 & 0x3fffffu);
    }
    const uint64_t exponent = size >> 52;
    uint64_t digits = size - (UINT64_C(896) << 52); /* the exponent of a float32, and its digits */
    uint64_t shift = 29;
    if (exponent < 897) { /* below the smallest normal float32: counted in 2**-149 */
        if (exponent < 872) {
            return 0;
        }
        digits = (size & UINT64_C(0xfffffffffffff)) | UINT64_C(1) << 52;
        shift = 926 - exponent;
    }
    const uint64_t half = UINT64_C(1) << (shift - 1), rest = digits & (2 * half - 1);
    const uint64_t bits = digits >> shift;
    return bits + (rest > half || (rest == half && (bits & 1) != 0));
}

static bool absorb_f32_bits(fs_state *state, uint64_t *value, PyObject *arg)
{
    double number;
    uint64_t wide;
    if (!as_double(state, arg, &number)) {
        return false;
    }
    memcpy(&wide, &number, sizeof wide);
    const uint64_t size = wide & UINT64_C(0x7fffffffffffffff);
    /* from halfway between the largest float32 and the next power of two, rounding overflows */
    if (size >= UINT64_C(0x47effffff0000000) && size < infinite) {
        PyObject *named = PyFloat_FromDouble(number);
        if (named != NULL) {
            fs_raise(state, "float32_overflow", named);
            Py_DECREF(named);
        }
        return false;
    }
    const uint64_t sign = wide >> 32 & 0x80000000u;
    *value = fs_hash_u32(*value, (uint32_t)(sign | f32_size(size)));
    return true;
}

static bool absorb_plan(fs_state *state, uint64_t *value, PyObject *arg)
{
    if (Py_TYPE(arg) != state->plan_type) {
        fs_raise(state, "wrong_plan", arg);
        return false;
    }
    *value = fs_hash_plan(*value, &((fs_plan_object *)arg)->plan);
    return true;
}

/* absorb_x(value, *values) for each of the above; METH_FASTCALL. */
#define FS_ABSORB_EACH(one)                                                                      \
    static PyObject *hash_##one(fs_hash_object *self, PyObject *const *args, Py_ssize_t count)   \
    {                                                                                            \
        uint64_t value = self->value;                                                            \
        for (Py_ssize_t i = 0; i < count; i++) {                                                 \
            if (!one(self->state, &value, args[i])) {                                            \
                return NULL;                                                                     \
            }                                                                                    \
        }                                                                                        \
        if (count == 0) {                                                                        \
            PyErr_SetString(PyExc_TypeError, "StateHash." #one "() needs at least one value");   \
            return NULL;                                                                         \
        }                                                                                        \
        return hash_make(self->state, value);                                                    \
    }

FS_ABSORB_EACH(absorb_bytes)
FS_ABSORB_EACH(absorb_u64)
FS_ABSORB_EACH(absorb_u32)
FS_ABSORB_EACH(absorb_i64)
FS_ABSORB_EACH(absorb_f32_bits)
FS_ABSORB_EACH(absorb_f64_bits)
FS_ABSORB_EACH(absorb_plan)

static PyObject *hash_absorb(fs_hash_object *self, PyObject *arg)
{
    uint64_t value = self->value;
    return fs_absorb_value(self->state, &value, arg) ? hash_make(self->state, value) : NULL;
}

static PyObject *hash_finish(fs_hash_object *self, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLongLong(self->value);
}

static PyObject *hash_richcompare(fs_hash_object *self, PyObject *other, int op)
{
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(other) != Py_TYPE(self)) {
        return fs_not_implemented();
    }
    return fs_equality(self->value == ((fs_hash_object *)other)->value, op);
}

static Py_hash_t hash_hash(fs_hash_object *self)
{
    return fs_hash_numbers(hash_state(self, NULL));
}

static PyObject *hash_copy(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    Py_INCREF(self);
    return self;
}

#define FS_METHOD(name) \
    {#name, (PyCFunction)(void (*)(void))hash_##name, METH_FASTCALL, fs_doc_StateHash_##name}

static PyMethodDef hash_methods[] = {
    {"absorb", (PyCFunction)hash_absorb, METH_O, fs_doc_StateHash_absorb},
    FS_METHOD(absorb_bytes),
    FS_METHOD(absorb_u64),
    FS_METHOD(absorb_u32),
    FS_METHOD(absorb_i64),
    FS_METHOD(absorb_f32_bits),
    FS_METHOD(absorb_f64_bits),
    FS_METHOD(absorb_plan),
    {"finish", (PyCFunction)hash_finish, METH_NOARGS, fs_doc_StateHash_finish},
    {"_state", (PyCFunction)hash_state, METH_NOARGS, NULL},
    {"_from_state", (PyCFunction)hash_from_state, METH_VARARGS | METH_CLASS, NULL},
    {"__copy__", (PyCFunction)hash_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)hash_copy, METH_O, NULL},
    {"__reduce__", (PyCFunction)hash_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot hash_slots[] = {
    {Py_tp_doc, (void *)fs_doc_StateHash},
    {Py_tp_new, (void *)hash_new_or_fresh},
    {Py_tp_dealloc, (void *)fs_dealloc},
    {Py_tp_methods, hash_methods},
    {Py_tp_richcompare, (void *)hash_richcompare},
    {Py_tp_hash, (void *)hash_hash},
    {Py_tp_repr, (void *)hash_repr},
    {0, NULL},
};

PyType_Spec fs_hash_spec = {
    .name = "fixedstep.native.StateHash",
    .basicsize = sizeof(fs_hash_object),
    .flags = FS_TYPE_FLAGS,
    .slots = hash_slots,
};
