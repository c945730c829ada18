/* The module `fixedstep._types`: registers the types, and the glue they share.
 *
 * It lives in the same shared library as the cffi module `fixedstep._core` and has an init function of
 * its own (PEP 489 allows several modules in one library), so the core is compiled once, importing the
 * types does not import cffi, and every interpreter gets types of its own. Attaching the types to the
 * cffi module was the alternative: cffi has no module object to hand to C, and one set of types would
 * have served all interpreters.
 */
#include "fs_types.h"

#include <stdlib.h>
#include <string.h>

void fs_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject *fs_call(PyObject *module, const char *name, PyObject *args, PyObject *kwargs)
{
    PyObject *function = PyObject_GetAttrString(module, name);
    PyObject *no_args = args == NULL ? PyTuple_New(0) : NULL;
    PyObject *result = NULL;
    if (function != NULL && (args != NULL || no_args != NULL)) {
        result = PyObject_Call(function, args == NULL ? no_args : args, kwargs);
    }
    Py_XDECREF(no_args);
    Py_XDECREF(function);
    return result;
}

PyObject *fs_ask(PyObject *module, const char *name, PyObject *value)
{
    PyObject *args = PyTuple_Pack(1, value);
    if (args == NULL) {
        return NULL;
    }
    PyObject *result = fs_call(module, name, args, NULL);
    Py_DECREF(args);
    return result;
}

void fs_raise(fs_state *state, const char *name, PyObject *value)
{
    PyObject *error = value == NULL ? fs_call(state->arguments, name, NULL, NULL)
                                    : fs_ask(state->arguments, name, value);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
}

PyObject *fs_reduce(fs_state *state, const char *kind, PyObject *numbers)
{
    if (numbers == NULL) {
        return NULL;
    }
    PyObject *head = Py_BuildValue("(s)", kind);
    PyObject *args = head == NULL ? NULL : PySequence_Concat(head, numbers);
    Py_XDECREF(head);
    Py_DECREF(numbers);
    return args == NULL ? NULL : Py_BuildValue("(ON)", state->restore, args);
}

PyObject *fs_text(fs_state *state, const char *name, PyObject *numbers)
{
    if (numbers == NULL) {
        return NULL;
    }
    PyObject *text = fs_call(state->text, name, numbers, NULL);
    Py_DECREF(numbers);
    return text;
}

Py_hash_t fs_hash_numbers(PyObject *numbers)
{
    if (numbers == NULL) {
        return -1;
    }
    const Py_hash_t hash = PyObject_Hash(numbers);
    Py_DECREF(numbers);
    return hash;
}

bool fs_slow_u64(fs_state *state, const char *name, uint64_t high, PyObject *value,
                 uint64_t *number)
{
    PyObject *index = PyNumber_Index(value);
    if (index == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return false;
        }
        PyErr_Clear(); /* the text of the error names the argument */
    }
    else if (fs_fast_u64(index, number) && *number <= high) {
        Py_DECREF(index);
        return true;
    }
    PyObject *checked = fs_ask(state->arguments, name, index == NULL ? value : index);
    Py_XDECREF(index);
    if (checked == NULL) {
        return false;
    }
    *number = PyLong_AsUnsignedLongLong(checked); /* in range, so it cannot fail */
    Py_DECREF(checked);
    return true;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0) {
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

/* `fixedstep.<module>.<name>`; the module itself where `name` is NULL */
static PyObject *import(const char *module, const char *name)
{
    PyObject *found = PyImport_ImportModule(module);
    if (found == NULL || name == NULL) {
        return found;
    }
    PyObject *attribute = PyObject_GetAttrString(found, name);
    Py_DECREF(found);
    return attribute;
}

#define FS_TEXT_(text) #text
#define FS_TEXT(text) FS_TEXT_(text)
#if defined(__clang__) || defined(__GNUC__)
#define FS_COMPILER_NAME __VERSION__
#elif defined(_MSC_VER)
#define FS_COMPILER_NAME "MSVC " FS_TEXT(_MSC_FULL_VER)
#else
#define FS_COMPILER_NAME "unknown"
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define FS_COMPILER "GCC " FS_COMPILER_NAME
#else
#define FS_COMPILER FS_COMPILER_NAME
#endif
#ifdef Py_LIMITED_API
#define FS_ABI "abi3, CPython 3.10 and later"
#else
#define FS_ABI "CPython " PY_VERSION " only"
#endif

/* Of the interpreter that runs: one wheel serves 3.10 and all that came after it. */
static long minor_version(void)
{
    return strtol(Py_GetVersion() + strlen("3."), NULL, 10);
}

static int module_exec(PyObject *module)
{
    fs_state *state = PyModule_GetState(module);
    if ((state->arguments = import("fixedstep._arguments", NULL)) == NULL
        || (state->configuration = import("fixedstep._state", NULL)) == NULL
        || (state->text = import("fixedstep.text", NULL)) == NULL
        || (state->timing = import("fixedstep.timing", NULL)) == NULL
        || (state->plans = import("fixedstep._plans", NULL)) == NULL
        || (state->restore = import("fixedstep._saved", "restore")) == NULL
        || (state->timestep_of = import("fixedstep.time", "timestep_of")) == NULL
        || (state->budget_type = import("fixedstep.time", "StepBudget")) == NULL
        || (state->step_type = import("fixedstep.time", "Step")) == NULL) {
        return -1;
    }
    PyObject *plans_type = PyObject_GetAttrString(state->plans, "FramePlans");
    if (plans_type == NULL) {
        return -1;
    }
    state->plans_from = PyObject_GetAttrString(plans_type, "_from_bytes");
    Py_DECREF(plans_type);
    if (state->plans_from == NULL) {
        return -1;
    }
    /* A step is a tuple of its own type. To fill one in place is the quickest way, until CPython 3.14 put
     * a tuple's hash into the tuple: only tuple.__new__ marks it there as not known yet. */
    state->tuple_new = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    if (minor_version() < 14) {
        state->step_alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)state->step_type, Py_tp_alloc);
    }
    if ((state->loop_type = add_type(module, &fs_loop_spec)) == NULL
        || (state->plan_type = add_type(module, &fs_plan_spec)) == NULL
        || (state->steps_type = add_type(module, &fs_steps_spec)) == NULL
        || (state->hash_type = add_type(module, &fs_hash_spec)) == NULL
        || (state->stats_type = add_type(module, &fs_stats_spec)) == NULL
        || (state->timing_type = add_type(module, &fs_timing_spec)) == NULL) {
        return -1;
    }
    if (PyModule_AddStringConstant(module, "COMPILER", FS_COMPILER) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "ABI", FS_ABI);
}

/* What a state owns: each is visited by the collector, and let go with the module. */
#define FS_OWNED(X) \
    X(loop_type) X(plan_type) X(steps_type) X(hash_type) X(stats_type) X(timing_type) \
    X(step_type) X(arguments) X(encoding) X(configuration) X(text) X(timing) X(restore) \
    X(plans) X(plans_from) X(timestep_of) X(budget_type)
#define FS_VISIT(name) Py_VISIT(state->name);
#define FS_CLEAR(name) Py_CLEAR(state->name);

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    fs_state *state = PyModule_GetState(module);
    FS_OWNED(FS_VISIT)
    return 0;
}

static int module_clear(PyObject *module)
{
    fs_state *state = PyModule_GetState(module);
    FS_OWNED(FS_CLEAR)
    return 0;
}

static void module_free(void *module)
{
    (void)module_clear(module);
    fs_state *state = PyModule_GetState(module);
    PyObject_Free(state->spare_plan);
    PyObject_Free(state->spare_steps);
}

/* The limited API of 3.10 names neither slot below, though both belong to the stable ABI of later
 * versions: their numbers and values are written out. An interpreter refuses a slot it does not know. */
#define FS_SLOT_MULTIPLE_INTERPRETERS 3 /* Py_mod_multiple_interpreters, CPython 3.12 */
#define FS_OWN_GIL_SUPPORTED ((void *)2)
#define FS_SLOT_GIL 4 /* Py_mod_gil, CPython 3.13 */
#define FS_GIL_NOT_USED ((void *)1)

static PyModuleDef_Slot slots_310[] = {
    {Py_mod_exec, (void *)module_exec},
    {0, NULL},
};

/* Nothing in this library is shared by interpreters: all state hangs on the module, and csrc/core has
 * constants only. */
static PyModuleDef_Slot slots_312[] = {
    {Py_mod_exec, (void *)module_exec},
    {FS_SLOT_MULTIPLE_INTERPRETERS, FS_OWN_GIL_SUPPORTED},
    {0, NULL},
};

static PyModuleDef_Slot slots_313[] = {
    {Py_mod_exec, (void *)module_exec},
    {FS_SLOT_MULTIPLE_INTERPRETERS, FS_OWN_GIL_SUPPORTED},
    {FS_SLOT_GIL, FS_GIL_NOT_USED},
    {0, NULL},
};

/* Which of the lists the running interpreter understands. */
static PyModuleDef_Slot *slots(void)
{
    const long minor = minor_version();
    return minor >= 13 ? slots_313 : minor >= 12 ? slots_312 : slots_310;
}

/* The collector calls module_clear only for a module that nothing refers to any more, and every object
 * refers to it through its type: no method ever runs on a cleared state. */
static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "fixedstep._types",
    .m_doc = "The C core's types. Import them from fixedstep or fixedstep.native.",
    .m_size = sizeof(fs_state),
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__types(void)
{
    module_def.m_slots = slots();
    return PyModuleDef_Init(&module_def);
}
