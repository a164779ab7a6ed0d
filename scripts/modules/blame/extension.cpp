// A Python extension in C++ whose cache of results is never cleared. Built by the suite as extension_module.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdlib>
#include <map>
#include <vector>

static std::map<long, std::vector<float>> cache;

static std::vector<float> computed(long key) { return std::vector<float>(20000, static_cast<float>(key)); }

static PyObject *features(PyObject *, PyObject *argument) {
  const long key = PyLong_AsLong(argument);
  auto found = cache.find(key);
  if (found == cache.end()) found = cache.emplace(key, computed(key)).first;
  if (getenv("HEALTHY")) {
    const double first = found->second[0];
    cache.clear();
    return PyFloat_FromDouble(first);
  }
  return PyFloat_FromDouble(found->second[0]);
}

static PyMethodDef methods[] = {{"features", features, METH_O, "Features of a key, from the cache."}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension_module", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_extension_module() { return PyModule_Create(&module); }
