/* StateHash.absorb(value): the encoding of any value, hashed as it is made.
 *
 * The reference is _Walk in src/fixedstep/_encoding.py, and the specification docs/reference/encoding.md.
 * What is common in the state of a game is encoded here; for the rule of any other type, for the rare parts
 * and for the text of every error this file asks _encoding.py. Nothing is kept but the encodings of the
 * keys of a dict and of the elements of a set, which have to be sorted.
 *
 * A class's __digest__ may run any code while its container is walked. So whatever is walked is held by a
 * reference, and a container that can change is read by index and its size compared at the end.
 */
#include "fs_types.h"

#include <stdlib.h>
#include <string.h>

/* What a rule says, in the order of _encoding.py. */
enum { FIELDS, ITEMS, DIGEST, SAME, READY, TYPED, MAPPING, DEQUE };

#define DEEPEST 100 /* as in _encoding.py */
#define RULES 64

typedef struct {
    PyObject *tuple;    /* owns all of the others; NULL in a place that is free */
    PyTypeObject *type; /* whose rule it is */
    long code;          /* -1: the type has no encoding */
    const char *name;   /* the encoded name */
    size_t name_size;
    PyObject *names;
    PyObject *call;
} fs_rule;

/* Where in the value a walk is, for errors. Borrowed: the walk that set a step holds its objects. */
typedef struct {
    PyObject *held;   /* the container */
    const char *kind; /* "i", "a", "k" or "e": see Step in _encoding.py */
    PyObject *part;   /* for "i" it is `index` */
    Py_ssize_t index;
} fs_walk_step;

typedef struct {
    char *data;
    size_t size;
    size_t room;
} fs_bytes;

typedef struct {
    fs_state *state;
    uint64_t hash;
    fs_bytes *sink; /* where the encoding goes instead of into the hash: that of a key, or NULL */
    int depth;
    fs_walk_step steps[DEEPEST];
    fs_rule rules[RULES]; /* of the types met last, by address */
} fs_walk;

static bool walk(fs_walk *w, PyObject *value);

/* ---- Errors: their text is made in _encoding.py ---------------------------------------------------- */

static PyObject *path_to(fs_walk *w)
{
    PyObject *path = PyList_New(0);
    for (int depth = 0; path != NULL && depth < w->depth; depth++) {
        const fs_walk_step *step = &w->steps[depth];
        PyObject *pair = step->kind[0] == 'i' ? Py_BuildValue("(sn)", step->kind, step->index)
                                              : Py_BuildValue("(sO)", step->kind, step->part);
        if (pair == NULL || PyList_Append(path, pair) < 0) {
            Py_CLEAR(path);
        }
        Py_XDECREF(pair);
    }
    return path;
}

/* Raises what `fixedstep._encoding.<name>(path, value)` makes; false, for the callers to return. */
static bool fail(fs_walk *w, const char *name, PyObject *value)
{
    PyObject *path = path_to(w);
    PyObject *args = path == NULL ? NULL : PyTuple_Pack(2, path, value);
    PyObject *error = args == NULL ? NULL : fs_call(w->state->encoding, name, args, NULL);
    Py_XDECREF(path);
    Py_XDECREF(args);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return false;
}

static bool fail_too_deep(fs_walk *w, PyObject *value)
{
    PyObject *held = PyList_New(0);
    bool made = held != NULL;
    for (int depth = 0; made && depth < w->depth; depth++) {
        made = PyList_Append(held, w->steps[depth].held) == 0;
    }
    if (made && PyList_Append(held, value) == 0) {
        fail(w, "too_deep", held);
    }
    Py_XDECREF(held);
    return false;
}

/* ---- Bytes ------------------------------------------------------------------------------------------ */

static bool append(fs_bytes *sink, const void *data, size_t size)
{
    if (size > sink->room - sink->size) {
        const size_t room = (sink->size + size) * 2;
        char *grown = PyMem_Realloc(sink->data, room);
        if (grown == NULL) {
            PyErr_NoMemory();
            return false;
        }
        sink->data = grown;
        sink->room = room;
    }
    memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return true;
}

static bool emit(fs_walk *w, const void *data, size_t size)
{
    if (w->sink != NULL) {
        return append(w->sink, data, size);
    }
    w->hash = fs_hash_bytes(w->hash, data, size);
    return true;
}

/* The same for a few bytes, of a head or a number. */
static inline bool emit_few(fs_walk *w, const uint8_t *data, size_t size)
{
    if (w->sink != NULL) {
        return append(w->sink, data, size);
    }
    uint64_t hash = w->hash;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * FS_FNV_PRIME;
    }
    w->hash = hash;
    return true;
}

/* The contents of a bytes object that is held; without the GIL if they are many. */
static bool emit_bytes(fs_walk *w, PyObject *bytes)
{
    const char *data = PyBytes_AsString(bytes);
    const size_t size = (size_t)PyBytes_Size(bytes);
    if (w->sink != NULL || size < FS_RELEASE_BYTES) {
        return emit(w, data, size);
    }
    uint64_t hash = w->hash;
    Py_BEGIN_ALLOW_THREADS
    hash = fs_hash_bytes(hash, data, size);
    Py_END_ALLOW_THREADS
    w->hash = hash;
    return true;
}

static void big_endian(uint8_t *to, uint64_t number, unsigned size)
{
    for (unsigned i = size; i-- > 0; number >>= 8) {
        to[i] = (uint8_t)number;
    }
}

/* The first bytes of an item. */
static inline bool emit_head(fs_walk *w, unsigned major, uint64_t number)
{
    uint8_t bytes[9] = {(uint8_t)(major << 5 | (unsigned)number)};
    unsigned size = 0;
    if (number >= 24) {
        const unsigned class = number > 0xffffffff ? 3u : number > 0xffff ? 2u : number > 0xff;
        size = 1u << class;
        bytes[0] = (uint8_t)(major << 5 | (24 + class));
        big_endian(bytes + 1, number, size);
    }
    return emit_few(w, bytes, size + 1);
}

/* The start of a named object: tag 27, an array of its name and of `count` values. */
static bool emit_named(fs_walk *w, const char *name, size_t size, size_t count)
{
    static const uint8_t tag[] = {0xd8, 27};
    return emit_few(w, tag, 2) && emit_head(w, 4, count + 1)
        && emit_few(w, (const uint8_t *)name, size);
}

/* ---- Scalars ---------------------------------------------------------------------------------------- */

/* What `fixedstep._encoding.integer(number)` gives: an int beyond 64 bits. */
static bool emit_large(fs_walk *w, PyObject *number)
{
    PyObject *bytes = fs_ask(w->state->encoding, "integer", number);
    const bool emitted = bytes != NULL && emit_bytes(w, bytes);
    Py_XDECREF(bytes);
    return emitted;
}

static bool walk_int(fs_walk *w, PyObject *value)
{
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
        return emit_large(w, value);
    }
    return number < 0 ? emit_head(w, 1, ~(uint64_t)number) : emit_head(w, 0, (uint64_t)number);
}

/* The bits of a finite float64 in a format of fewer bits; false if it would be rounded. */
static inline bool narrow(uint64_t bits, unsigned exponent_bits, unsigned digit_bits, uint64_t *to)
{
    const uint64_t sign = bits >> 63 << (exponent_bits + digit_bits);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t digits = bits & UINT64_C(0xfffffffffffff);
    const int top = (1 << exponent_bits) - 1, bias = top >> 1;
    if (exponent == 0) { /* zero, or too small for any smaller format */
        *to = sign;
        return digits == 0;
    }
    int power = exponent - 1023 + bias, lost = 52 - (int)digit_bits;
    if (power <= 0) { /* without the leading 1 that is not written */
        digits |= UINT64_C(1) << 52;
        lost += 1 - power;
        power = 0;
    }
    if (power >= top || lost > 52 || (digits & ((UINT64_C(1) << lost) - 1)) != 0) {
        return false;
    }
    *to = sign | (uint64_t)power << digit_bits | digits >> lost;
    return true;
}

static bool walk_float(fs_walk *w, double value)
{
    uint64_t bits, size, narrowed;
    uint8_t bytes[9];
    memcpy(&bits, &value, sizeof bits);
    size = bits & UINT64_C(0x7fffffffffffffff);
    if (size >= UINT64_C(0x7ff0000000000000)) { /* infinite, or any NaN */
        narrowed = size == UINT64_C(0x7ff0000000000000) ? 0x7c00 | bits >> 63 << 15 : 0x7e00;
    }
    else if (!narrow(bits, 5, 10, &narrowed)) {
        if (narrow(bits, 8, 23, &narrowed)) {
            bytes[0] = 0xfa;
            big_endian(bytes + 1, narrowed, 4);
            return emit_few(w, bytes, 5);
        }
        bytes[0] = 0xfb;
        big_endian(bytes + 1, bits, 8);
        return emit_few(w, bytes, 9);
    }
    bytes[0] = 0xf9;
    big_endian(bytes + 1, narrowed, 2);
    return emit_few(w, bytes, 3);
}

/* The UTF-8 of a str, which the str keeps; NULL with an exception. */
static const char *utf8(fs_walk *w, PyObject *value, Py_ssize_t *size)
{
    const char *data = PyUnicode_AsUTF8AndSize(value, size);
    if (data == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        fail(w, "surrogate", value);
    }
    return data;
}

static bool walk_str(fs_walk *w, PyObject *value)
{
    Py_ssize_t size;
    const char *data = utf8(w, value, &size);
    return data != NULL && emit_head(w, 3, (uint64_t)size) && emit(w, data, (size_t)size);
}

static bool emit_bytearray(fs_walk *w, PyObject *array)
{
    bool emitted;
    FS_LOCK(array);
    const size_t size = (size_t)PyByteArray_Size(array);
    emitted = emit_head(w, 2, size) && emit(w, PyByteArray_AsString(array), size);
    FS_UNLOCK();
    return emitted;
}

static bool walk_bytes(fs_walk *w, PyObject *value)
{
    return emit_head(w, 2, (uint64_t)PyBytes_Size(value)) && emit_bytes(w, value);
}

/* ---- Containers ------------------------------------------------------------------------------------- */

/* The step of a container that is about to be walked; NULL with an exception if it is too deep. */
static fs_walk_step *enter(fs_walk *w, PyObject *held)
{
    if (w->depth == DEEPEST) {
        fail_too_deep(w, held);
        return NULL;
    }
    fs_walk_step *step = &w->steps[w->depth++];
    step->held = held;
    step->kind = "a";
    step->part = held; /* not read: every part sets its own */
    return step;
}

/* Every way in has its way out here, unless the whole walk ends in an exception. */
static inline bool leave(fs_walk *w)
{
    w->depth--;
    return true;
}

/* Walk a part whose reference is taken over; NULL is an exception already. */
static inline bool walk_part(fs_walk *w, PyObject *part)
{
    const bool walked = part != NULL && walk(w, part);
    Py_XDECREF(part);
    return walked;
}

static bool walk_list(fs_walk *w, PyObject *value)
{
    fs_walk_step *step = enter(w, value);
    const Py_ssize_t size = PyList_Size(value);
    if (step == NULL || !emit_head(w, 4, (uint64_t)size)) {
        return false;
    }
    step->kind = "i";
    for (Py_ssize_t i = 0; i < size && i < PyList_Size(value); i++) {
        step->index = i;
        if (!walk_part(w, PySequence_GetItem(value, i))) {
            return false;
        }
    }
    leave(w);
    return PyList_Size(value) == size || fail(w, "changed", value);
}

/* The items of a tuple, or of a list that nobody else has. The first of them may have names. */
static bool walk_items(fs_walk *w, PyObject *held, PyObject *items, PyObject *names)
{
    fs_walk_step *step = enter(w, held);
    const Py_ssize_t size = PyList_Check(items) ? PyList_Size(items) : PyTuple_Size(items);
    const Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    if (step == NULL) {
        return false;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        /* not PySequence_GetItem: the class of a named tuple may have an order of its own */
        PyObject *item = PyList_Check(items) ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
        if (item != NULL) {
            Py_INCREF(item);
        }
        step->kind = i < named ? "a" : "i";
        step->index = i;
        step->part = i < named ? PyTuple_GetItem(names, i) : NULL;
        if (!walk_part(w, item)) {
            return false;
        }
    }
    return leave(w);
}

static bool walk_fields(fs_walk *w, PyObject *value, PyObject *names)
{
    fs_walk_step *step = enter(w, value);
    if (step == NULL) {
        return false;
    }
    const Py_ssize_t size = PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < size; i++) {
        step->part = PyTuple_GetItem(names, i);
        if (!walk_part(w, PyObject_GetAttr(value, step->part))) {
            return false;
        }
    }
    return leave(w);
}

/* ---- Dicts and sets: sorted by the encoding of keys or elements ------------------------------------- */

typedef struct {
    PyObject *key;
    PyObject *value;    /* NULL in a set */
    const char *data;   /* the encoding of the key; for a str what follows its head */
    size_t size;
    size_t start;       /* of `data`, before all keys are encoded */
    Py_ssize_t place;   /* before sorting: of equal ones the first stays first */
} fs_entry;

static int by_place(const fs_entry *a, const fs_entry *b)
{
    return (a->place > b->place) - (a->place < b->place);
}

/* Strings: the shorter one has the smaller head. */
static int by_string(const void *one, const void *two)
{
    const fs_entry *a = one, *b = two;
    return a->size != b->size ? (a->size > b->size) - (a->size < b->size)
                              : memcmp(a->data, b->data, a->size);
}

static int by_encoding(const void *one, const void *two)
{
    const fs_entry *a = one, *b = two;
    const int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);
    if (order != 0) {
        return order;
    }
    return a->size != b->size ? (a->size > b->size) - (a->size < b->size) : by_place(a, b);
}

/* The encodings of all keys, into `keys`. */
static bool encode_keys(fs_walk *w, fs_entry *entries, Py_ssize_t count, fs_bytes *keys)
{
    fs_bytes *outer = w->sink;
    fs_walk_step *step = &w->steps[w->depth - 1];
    bool encoded = true;
    w->sink = keys;
    step->kind = "e";
    for (Py_ssize_t i = 0; encoded && i < count; i++) {
        entries[i].start = keys->size;
        step->part = entries[i].key;
        encoded = walk(w, entries[i].key);
        entries[i].size = keys->size - entries[i].start;
    }
    w->sink = outer;
    for (Py_ssize_t i = 0; encoded && i < count; i++) {
        entries[i].data = keys->data + entries[i].start;
    }
    return encoded;
}

static bool all_differ(fs_walk *w, const fs_entry *entries, Py_ssize_t count)
{
    for (Py_ssize_t i = 1; i < count; i++) {
        const fs_entry *a = &entries[i - 1], *b = &entries[i];
        if (a->size == b->size && memcmp(a->data, b->data, a->size) == 0) {
            w->steps[w->depth - 1].part = b->key;
            return fail(w, "twice", b->key);
        }
    }
    return true;
}

static bool strings_as_utf8(fs_walk *w, fs_entry *entries, Py_ssize_t count)
{
    fs_walk_step *step = &w->steps[w->depth - 1];
    step->kind = "e";
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t size;
        step->part = entries[i].key;
        entries[i].data = utf8(w, entries[i].key, &size);
        if (entries[i].data == NULL) {
            return false;
        }
        entries[i].size = (size_t)size;
    }
    return true;
}

/* The keys in the order of their encodings, and each one's value after it. */
static bool walk_entries(fs_walk *w, fs_entry *entries, Py_ssize_t count, bool strings,
                         fs_bytes *keys)
{
    fs_walk_step *step = &w->steps[w->depth - 1];
    const size_t entry = sizeof *entries;
    if (strings) {
        if (!strings_as_utf8(w, entries, count)) {
            return false;
        }
        qsort(entries, (size_t)count, entry, by_string);
    }
    else {
        if (!encode_keys(w, entries, count, keys)) {
            return false;
        }
        qsort(entries, (size_t)count, entry, by_encoding);
        if (!all_differ(w, entries, count)) {
            return false;
        }
    }
    const bool mapping = count > 0 && entries[0].value != NULL;
    if (!emit_head(w, mapping || strings ? 5 : 4, (uint64_t)count)) {
        return false;
    }
    step->kind = "k";
    for (Py_ssize_t i = 0; i < count; i++) {
        step->part = entries[i].key;
        if ((strings && !emit_head(w, 3, entries[i].size))
            || !emit(w, entries[i].data, entries[i].size)
            || (mapping && !walk(w, entries[i].value))) {
            return false;
        }
    }
    return leave(w);
}

static fs_entry *new_entries(Py_ssize_t count)
{
    fs_entry *entries = PyMem_Malloc(((size_t)count + 1) * sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
    }
    return entries;
}

static void free_entries(fs_entry *entries, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF(entries[i].key);
        Py_XDECREF(entries[i].value);
    }
    PyMem_Free(entries);
}

static bool walk_dict(fs_walk *w, PyObject *value)
{
    if (enter(w, value) == NULL) {
        return false;
    }
    Py_ssize_t count = 0, room = PyDict_Size(value), at = 0;
    fs_entry *entries = new_entries(room);
    bool strings = true;
    if (entries == NULL) {
        return false;
    }
    FS_LOCK(value);
    fs_entry *entry = entries;
    while (count < room && PyDict_Next(value, &at, &entry->key, &entry->value)) {
        Py_INCREF(entry->key);
        Py_INCREF(entry->value);
        strings = strings && PyUnicode_CheckExact(entry->key);
        entry->place = count++;
        entry = &entries[count];
    }
    FS_UNLOCK();
    fs_bytes keys = {NULL, 0, 0};
    const bool walked = walk_entries(w, entries, count, strings, &keys);
    PyMem_Free(keys.data);
    free_entries(entries, count);
    return walked;
}

static bool walk_set(fs_walk *w, PyObject *value)
{
    static const uint8_t tag[] = {0xd9, 258 >> 8, 258 & 0xff};
    if (enter(w, value) == NULL || !emit_few(w, tag, sizeof tag)) {
        return false;
    }
    PyObject *elements = PySequence_List(value);
    if (elements == NULL) {
        return false;
    }
    const Py_ssize_t count = PyList_Size(elements);
    fs_entry *entries = new_entries(count);
    bool walked = false;
    if (entries != NULL) {
        for (Py_ssize_t i = 0; i < count; i++) {
            entries[i].key = PySequence_GetItem(elements, i);
            entries[i].value = NULL;
            entries[i].place = i;
        }
        fs_bytes keys = {NULL, 0, 0};
        walked = walk_entries(w, entries, count, false, &keys);
        PyMem_Free(keys.data);
        free_entries(entries, count);
    }
    Py_DECREF(elements);
    return walked;
}

/* ---- What goes by a rule ---------------------------------------------------------------------------- */

static void read_rule(fs_rule *rule, PyObject *found, PyTypeObject *type)
{
    fs_rule made = {found, type, -1, NULL, 0, NULL, NULL};
    if (PyTuple_Check(found)) {
        PyObject *name = PyTuple_GetItem(found, 2);
        made.code = PyLong_AsLong(PyTuple_GetItem(found, 1));
        made.name = PyBytes_AsString(name);
        made.name_size = (size_t)PyBytes_Size(name);
        made.names = PyTuple_GetItem(found, 3);
        made.call = PyTuple_GetItem(found, 4);
    }
    *rule = made;
}

/* The rule of a type, with a reference to its tuple of its own: while it is used, others may be met. The
 * type stays alive as long as its values, and so as long as it can be asked for. A type that is gone leaves
 * a rule behind, whose tuple keeps it alive; a type without an encoding ends the walk. */
static bool rule_of(fs_walk *w, PyTypeObject *type, fs_rule *rule)
{
    fs_rule *place = &w->rules[((uintptr_t)type >> 5) % RULES];
    if (place->tuple != NULL && place->type == type) {
        *rule = *place;
        Py_INCREF(rule->tuple);
        return true;
    }
    PyObject *found = fs_ask(w->state->encoding, "rule", (PyObject *)type);
    if (found == NULL) {
        return false;
    }
    read_rule(rule, found, type);
    if (rule->code >= 0) {
        Py_INCREF(found);
        Py_XDECREF(place->tuple);
        *place = *rule;
    }
    return true;
}

static const uint64_t infinities[] = {0x7c00, 0x7f800000, UINT64_C(0x7ff0000000000000)};
static const uint64_t one_nan[] = {0x7e00, 0x7fc00000, UINT64_C(0x7ff8000000000000)};

/* Little-endian floats of `size` bytes, with the positive quiet NaN for every NaN. */
static bool emit_floats(fs_walk *w, PyObject *block, size_t size)
{
    const unsigned class = size == 8 ? 2 : size == 4 ? 1 : 0;
    const uint64_t without_sign = UINT64_MAX >> (64 - size * 8) >> 1;
    const uint8_t *data = (const uint8_t *)PyBytes_AsString(block);
    const size_t end = (size_t)PyBytes_Size(block);
    size_t start = 0;
    for (size_t at = 0; at < end; at += size) {
        uint64_t bits = 0;
        for (size_t i = size; i-- > 0;) {
            bits = bits << 8 | data[at + i];
        }
        if ((bits & without_sign) > infinities[class]) {
            uint8_t nan[8];
            for (size_t i = 0; i < size; i++) {
                nan[i] = (uint8_t)(one_nan[class] >> (8 * i));
            }
            if (!emit(w, data + start, at - start) || !emit(w, nan, size)) {
                return false;
            }
            start = at + size;
        }
    }
    return start == 0 ? emit_bytes(w, block) : emit(w, data + start, end - start);
}

/* (head, size of a float or 0, blocks of bytes), or None. */
static bool walk_typed(fs_walk *w, PyObject *value, PyObject *parts)
{
    if (!PyTuple_Check(parts)) {
        return fail(w, "refused", value);
    }
    const size_t size = (size_t)PyLong_AsLong(PyTuple_GetItem(parts, 1));
    PyObject *blocks = PyTuple_GetItem(parts, 2), *block;
    bool walked = emit_bytes(w, PyTuple_GetItem(parts, 0));
    while (walked && (block = PyIter_Next(blocks)) != NULL) {
        walked = size == 0 ? emit_bytes(w, block) : emit_floats(w, block, size);
        Py_DECREF(block);
    }
    return walked && PyErr_Occurred() == NULL;
}

static bool walk_deque(fs_walk *w, PyObject *value)
{
    PyObject *items = PySequence_List(value);
    PyObject *maxlen = items == NULL ? NULL : PyObject_GetAttrString(value, "maxlen");
    const bool walked = maxlen != NULL
        && emit_named(w, "\x65" "deque", 6, (size_t)PyList_Size(items) + 1)
        && walk(w, maxlen) && walk_items(w, value, items, NULL);
    Py_XDECREF(maxlen);
    Py_XDECREF(items);
    return walked;
}

static bool walk_digest(fs_walk *w, PyObject *value, const fs_rule *rule)
{
    if (!emit_named(w, rule->name, rule->name_size, 1)) {
        return false;
    }
    fs_walk_step *step = enter(w, value);
    if (step == NULL) {
        return false;
    }
    step->part = PyTuple_GetItem(rule->names, 0);
    return walk_part(w, PyObject_CallFunctionObjArgs(rule->call, value, NULL)) && leave(w);
}

static bool walk_called(fs_walk *w, PyObject *value, const fs_rule *rule)
{
    PyObject *result = PyObject_CallFunctionObjArgs(rule->call, value, NULL);
    if (result == NULL) {
        return false;
    }
    const bool walked = rule->code == SAME ? walk(w, result)
        : rule->code == READY              ? emit_bytes(w, result)
                                           : walk_typed(w, value, result);
    Py_DECREF(result);
    return walked;
}

static bool walk_by_rule(fs_walk *w, PyObject *value, const fs_rule *rule)
{
    switch (rule->code) {
    case FIELDS:
        return emit_named(w, rule->name, rule->name_size, (size_t)PyTuple_Size(rule->names))
            && walk_fields(w, value, rule->names);
    case ITEMS:
        return emit_named(w, rule->name, rule->name_size, (size_t)PyTuple_Size(value))
            && walk_items(w, value, value, rule->names);
    case DIGEST:
        return walk_digest(w, value, rule);
    case MAPPING:
        return walk_dict(w, value);
    case DEQUE:
        return walk_deque(w, value);
    case SAME:
    case READY:
    case TYPED:
        return walk_called(w, value, rule);
    default:
        return fail(w, "refused", value);
    }
}

static bool walk(fs_walk *w, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    static const uint8_t simple[] = {0xf4, 0xf5, 0xf6};
    if (type == &PyFloat_Type) {
        return walk_float(w, PyFloat_AsDouble(value));
    }
    if (type == &PyLong_Type) {
        return walk_int(w, value);
    }
    if (type == &PyUnicode_Type) {
        return walk_str(w, value);
    }
    if (type == &PyBool_Type) {
        return emit_few(w, simple + (PyObject_IsTrue(value) == 1), 1);
    }
    if (value == Py_None) {
        return emit_few(w, simple + 2, 1);
    }
    if (type == &PyList_Type) {
        return walk_list(w, value);
    }
    if (type == &PyTuple_Type) {
        return emit_named(w, "\x65" "tuple", 6, (size_t)PyTuple_Size(value))
            && walk_items(w, value, value, NULL);
    }
    if (type == &PyDict_Type) {
        return walk_dict(w, value);
    }
    if (type == &PyBytes_Type) {
        return walk_bytes(w, value);
    }
    if (type == &PyByteArray_Type) {
        return emit_bytearray(w, value);
    }
    if (type == &PySet_Type || type == &PyFrozenSet_Type) {
        return walk_set(w, value);
    }
    fs_rule rule;
    if (!rule_of(w, type, &rule)) {
        return false;
    }
    const bool walked = walk_by_rule(w, value, &rule);
    Py_DECREF(rule.tuple);
    return walked;
}

bool fs_absorb_value(fs_state *state, uint64_t *hash, PyObject *value)
{
    if (state->encoding == NULL
        && (state->encoding = PyImport_ImportModule("fixedstep._encoding")) == NULL) {
        return false;
    }
    /* Not on the stack of C: a __digest__ may come back here, as deep as Python lets it. */
    fs_walk *w = PyMem_Malloc(sizeof *w);
    if (w == NULL) {
        PyErr_NoMemory();
        return false;
    }
    w->state = state;
    w->hash = *hash;
    w->sink = NULL;
    w->depth = 0;
    for (int i = 0; i < RULES; i++) {
        w->rules[i].tuple = NULL;
    }
    const bool walked = walk(w, value);
    if (walked) {
        *hash = w->hash;
    }
    for (int i = 0; i < RULES; i++) {
        Py_XDECREF(w->rules[i].tuple);
    }
    PyMem_Free(w);
    return walked;
}
