// The module `rankgauge_native`: what takes most of the time of scoring a file, behind the seam of rankgauge.engine.
//
// Arrays go in and out as bytes, so neither NumPy's headers nor a version of it are needed.
#ifdef _WIN32
#define _CRT_SECURE_NO_WARNINGS
#endif
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "match.hpp"

namespace {

using namespace rankgauge;

// The interpreter runs on while this lives.
class Released {
public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() { PyEval_RestoreThread(state_); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

private:
    PyThreadState* state_;
};

template <typename T>
PyObject* bytes_of(const std::vector<T>& values) {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(values.data()),
                                     static_cast<Py_ssize_t>(values.size() * sizeof(T)));
}

class Buffer {
public:
    Buffer() = default;
    ~Buffer() {
        if (held_) PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    bool take(PyObject* object) {
        held_ = PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) == 0;
        return held_;
    }
    template <typename T>
    const T* as(std::size_t rows) const {
        return static_cast<std::size_t>(view_.len) == rows * sizeof(T) ? static_cast<const T*>(view_.buf) : nullptr;
    }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }
    const char* text() const { return static_cast<const char*>(view_.buf); }

private:
    Py_buffer view_{};
    bool held_ = false;
};

PyDoc_STRVAR(read_judgments_doc,
             "read_judgments(text, begin, end) -> (query_start, query_length, query_key, doc_start, doc_length, doc_key, "
             "number) as bytes, or None where text[begin:end] is not plain. Padding must follow it.");

PyObject* read_judgments_(PyObject*, PyObject* args) {
    PyObject* given = nullptr;
    Py_ssize_t begin = 0, end = 0;
    if (!PyArg_ParseTuple(args, "Onn", &given, &begin, &end)) return nullptr;
    Buffer text;
    if (!text.take(given)) return nullptr;
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) + kPadding > text.size()) {
        PyErr_SetString(PyExc_ValueError, "the bounds must lie in the text, with 16 bytes of padding behind them");
        return nullptr;
    }
    Rows rows;
    bool plain = true;
    {
        Released released;
        try {
            rows = read_judgments(text.text(), static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
        } catch (...) {
            plain = false;
        }
    }
    if (!plain) Py_RETURN_NONE;
    return Py_BuildValue("(NNNNNNN)", bytes_of(rows.query_start), bytes_of(rows.query_length), bytes_of(rows.query_key),
                         bytes_of(rows.doc_start), bytes_of(rows.doc_length), bytes_of(rows.doc_key), bytes_of(rows.number));
}

PyDoc_STRVAR(match_run_doc,
             "match_run(text, query_start, query_length, query_key, doc_start, doc_length, doc_key, path, start, size, "
             "ties, single, threads, part) -> (owner, above, tied, judgment, tie_met, in_run, retrieved, top, queries, "
             "first) or None where judgments or run are not plain. `ties` is 0 trec, 1 given, 2 expected, 3 stable.");

PyObject* match_run_(PyObject*, PyObject* args) {
    PyObject* given[7];
    const char* path = nullptr;
    unsigned long long start = 0, size = 0, part = 0;
    int ties = 0, single = 0;
    unsigned threads = 1;
    if (!PyArg_ParseTuple(args, "OOOOOOOyKKipIK", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &given[6],
                          &path, &start, &size, &ties, &single, &threads, &part))
        return nullptr;
    Buffer held[7];
    for (int i = 0; i < 7; ++i) {
        if (!held[i].take(given[i])) return nullptr;
    }
    const std::size_t rows = held[1].size() / sizeof(std::int64_t);
    const Judged judged{held[0].text(),
                        rows,
                        held[1].as<std::int64_t>(rows),
                        held[2].as<std::int64_t>(rows),
                        held[3].as<std::uint64_t>(rows),
                        held[4].as<std::int64_t>(rows),
                        held[5].as<std::int64_t>(rows),
                        held[6].as<std::uint64_t>(rows)};
    const auto inside = [&](const std::int64_t* from, const std::int64_t* length) {
        const auto limit = static_cast<std::int64_t>(held[0].size());
        for (std::size_t i = 0; i < rows; ++i) {
            if (from[i] < 0 || length[i] < 0 || length[i] > limit || from[i] > limit - length[i]) return false;
        }
        return true;
    };
    if (judged.query_start == nullptr || judged.query_length == nullptr || judged.query_key == nullptr ||
        judged.doc_start == nullptr || judged.doc_length == nullptr || judged.doc_key == nullptr || rows == 0 ||
        rows > UINT32_MAX / 4 || ties < 0 || ties > 3 || start > size || part == 0 ||
        !inside(judged.query_start, judged.query_length) || !inside(judged.doc_start, judged.doc_length)) {
        PyErr_SetString(PyExc_ValueError, "the columns of the judgments do not fit each other or their text");
        return nullptr;
    }
    std::vector<std::int64_t> owner, above, tied, judgment, retrieved;
    std::vector<std::uint8_t> tie_met, in_run;
    std::vector<double> top;
    std::vector<std::string> first;
    std::size_t queries = 0;
    bool plain = true;
    {
        Released released;
        try {
            const Index index(judged);
            const std::vector<Found> found =
                match_file(index, path, start, size, static_cast<Ties>(ties), single != 0, std::max(1u, threads), part);
            std::size_t hits = 0;
            for (const Found& one : found) {
                hits += one.hits.size();
                queries += one.heads.size();
            }
            if (queries == 0 || queries > UINT32_MAX / 4) throw Irregular{};
            for (auto* column : {&owner, &above, &tied, &judgment}) column->reserve(hits);
            tie_met.reserve(hits);
            in_run.assign(index.size(), 0);
            retrieved.assign(index.size(), 0);
            top.assign(index.size(), std::nan(""));
            std::vector<const std::string*> heads;
            heads.reserve(queries);
            Table seen;
            seen.begin(queries);
            std::vector<char> padded;
            for (const Found& one : found) {
                for (const std::string& head : one.heads) {
                    padded.assign(head.begin(), head.end());
                    padded.resize(head.size() + kPadding, 0);
                    if (seen.enter(key_of(padded.data(), head.size()), static_cast<std::uint32_t>(heads.size()),
                                   [&](std::uint32_t other) { return *heads[other] == head; }) >= 0)
                        throw Irregular{};  // a query came back
                    heads.push_back(&head);
                    if (first.size() < 5) first.push_back(head);
                }
                for (std::size_t i = 0; i < one.owner.size(); ++i) {
                    const auto at = static_cast<std::size_t>(one.owner[i]);
                    in_run[at] = 1;
                    retrieved[at] = one.retrieved[i];
                    top[at] = one.top[i];
                }
                for (const Hit& hit : one.hits) {
                    owner.push_back(hit.owner);
                    above.push_back(hit.above);
                    tied.push_back(hit.tied);
                    judgment.push_back(hit.judgment);
                    tie_met.push_back(hit.tie_met ? 1 : 0);
                }
            }
        } catch (...) {
            plain = false;
        }
    }
    if (!plain) Py_RETURN_NONE;
    PyObject* names = PyList_New(0);
    if (names == nullptr) return nullptr;
    for (const std::string& name : first) {
        PyObject* text = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "strict");
        if (text == nullptr || PyList_Append(names, text) != 0) {
            Py_XDECREF(text);
            Py_DECREF(names);
            return nullptr;
        }
        Py_DECREF(text);
    }
    return Py_BuildValue("(NNNNNNNNnN)", bytes_of(owner), bytes_of(above), bytes_of(tied), bytes_of(judgment), bytes_of(tie_met),
                         bytes_of(in_run), bytes_of(retrieved), bytes_of(top), static_cast<Py_ssize_t>(queries), names);
}

PyMethodDef methods[] = {
    {"read_judgments", read_judgments_, METH_VARARGS, read_judgments_doc},
    {"match_run", match_run_, METH_VARARGS, match_run_doc},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "rankgauge_native", "The time-critical step of rankgauge, compiled.", 0, methods, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_rankgauge_native() {
    PyObject* made = PyModule_Create(&module);
    if (made != nullptr && PyModule_AddIntConstant(made, "VERSION", 1) != 0) {
        Py_DECREF(made);
        return nullptr;
    }
    return made;
}
