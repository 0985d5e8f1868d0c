// The module `rankgauge_native`: what takes most of the time of scoring, behind the seam of rankgauge.engine.
//
// Arrays go in and out as bytes, so neither NumPy's headers nor a version of it are needed.
#include "python.hpp"

#include <cstring>
#include <optional>

#include "dictionaries.hpp"
#include "files.hpp"
#include "frames.hpp"
#include "judgments.hpp"

namespace {

using namespace rankgauge;

// Does some work while the interpreter runs on; false if it threw: irregular, or no memory.
template <typename Work>
bool released(Work work) {
    Released while_here;
    try {
        work();
    } catch (...) {
        return false;
    }
    return true;
}

PyDoc_STRVAR(read_judgments_doc,
             "read_judgments(text, begin, end, threads, part) -> (query_start, query_length, query_key, doc_start, doc_length, "
             "doc_key, number) as bytes, or None where text[begin:end] is not plain. Padding must follow it.");

PyObject* read_judgments_(PyObject*, PyObject* args) {
    PyObject* given = nullptr;
    Py_ssize_t begin = 0, end = 0, part = 0;
    unsigned threads = 1;
    if (!PyArg_ParseTuple(args, "OnnIn", &given, &begin, &end, &threads, &part)) return nullptr;
    Buffer text;
    if (!text.take(given)) return nullptr;
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) + kPadding > text.size()) {
        PyErr_SetString(PyExc_ValueError, "the bounds must lie in the text, with 16 bytes of padding behind them");
        return nullptr;
    }
    if (part < 1) {
        PyErr_SetString(PyExc_ValueError, "a part has bytes");
        return nullptr;
    }
    std::optional<JudgmentText> judgments;
    const bool plain = released([&] {
        judgments.emplace(text.text(), static_cast<std::size_t>(begin), static_cast<std::size_t>(end), threads,
                          static_cast<std::size_t>(part));
    });
    if (!plain) Py_RETURN_NONE;
    const std::size_t n = judgments->rows();
    Filled<std::int64_t> query_start(n), query_length(n), doc_start(n), doc_length(n);
    Filled<std::uint64_t> query_key(n), doc_key(n);
    Filled<double> number(n);
    const Rows rows{query_start.at(), query_length.at(), query_key.at(), doc_start.at(), doc_length.at(), doc_key.at(), number.at()};
    if (PyErr_Occurred() != nullptr) return nullptr;
    if (!released([&] { judgments->read(rows); })) Py_RETURN_NONE;
    return Py_BuildValue("(NNNNNNN)", query_start.take(), query_length.take(), query_key.take(), doc_start.take(),
                         doc_length.take(), doc_key.take(), number.take());
}

PyDoc_STRVAR(read_text_doc,
             "read_text(path, start, size) -> the bytes of a file from start to size, with 16 bytes of padding behind "
             "them, or None where they cannot be read.");

PyObject* read_text_(PyObject*, PyObject* args) {
    const char* path = nullptr;
    unsigned long long start = 0, size = 0;
    if (!PyArg_ParseTuple(args, "yKK", &path, &start, &size)) return nullptr;
    if (start > size || size - start > static_cast<unsigned long long>(PY_SSIZE_T_MAX) - kPadding) {
        PyErr_SetString(PyExc_ValueError, "the part of the file is none");
        return nullptr;
    }
    const auto bytes = static_cast<std::size_t>(size - start);
    Filled<char> text(bytes + kPadding);
    if (text.at() == nullptr) return nullptr;
    const bool whole = released([&] {
        Reader(path).read(start, bytes, text.at());
        std::memset(text.at() + bytes, '0', kPadding);
    });
    if (!whole) Py_RETURN_NONE;
    return text.take();
}

// The judgments' columns as they come back from Python; false, with an error, where they do not fit.
bool take_judgments(PyObject* const* given, Buffer* held, Judged& judged) {
    for (int i = 0; i < 7; ++i) {
        if (!held[i].take(given[i])) return false;
    }
    const std::size_t rows = held[1].size() / sizeof(std::int64_t);
    const auto limit = static_cast<std::int64_t>(held[0].size());
    const auto fit = [&](int column) {
        const auto* start = held[column].as<std::int64_t>(rows);
        const auto* length = held[column + 1].as<std::int64_t>(rows);
        if (start == nullptr || length == nullptr || held[column + 2].as<std::uint64_t>(rows) == nullptr) return false;
        for (std::size_t i = 0; i < rows; ++i) {
            if (start[i] < 0 || length[i] < 0 || length[i] > limit || start[i] > limit - length[i]) return false;
        }
        return true;
    };
    if (rows > 0 && rows <= UINT32_MAX / 4 && fit(1) && fit(4)) {
        const auto* start = held[1].as<std::int64_t>(rows);
        const auto* length = held[2].as<std::int64_t>(rows);
        const auto* key = held[3].as<std::uint64_t>(rows);
        judged.text = held[0].text();
        judged.doc_start = held[4].as<std::int64_t>(rows);
        judged.doc_length = held[5].as<std::int64_t>(rows);
        judged.doc_key = held[6].as<std::uint64_t>(rows);
        try {
            for (std::size_t i = 0; i < rows; ++i) judged.add({judged.text + start[i], static_cast<std::size_t>(length[i]), key[i]});
        } catch (...) {
            PyErr_NoMemory();
            return false;
        }
        return true;
    }
    PyErr_SetString(PyExc_ValueError, "the columns of the judgments do not fit each other or their text");
    return false;
}

// What was found in all parts of a run, or None where a query comes back.
PyObject* tuple_of(const std::vector<Found>& found, std::size_t judged) {
    std::size_t queries = 0;
    if (!released([&] { queries = queries_in(found); })) Py_RETURN_NONE;
    Held names = Held::owned(PyList_New(0));
    if (!names) return nullptr;
    std::size_t told = 0;
    for (const Found& one : found) {
        for (std::size_t i = 0; i < one.first.size() && told < kFirst; ++i, ++told) {
            const std::string& name = one.first[i];
            const Held text = Held::owned(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "strict"));
            if (!text || PyList_Append(names.get(), text.get()) != 0) return nullptr;
        }
    }
    const std::size_t hits = hits_in(found);
    Filled<std::int64_t> owner(hits), above(hits), tied(hits), judgment(hits), retrieved(judged);
    Filled<std::uint8_t> tie_met(hits), in_run(judged);
    Filled<double> top(judged);
    if (PyErr_Occurred() != nullptr) return nullptr;
    const Whole whole{owner.at(), above.at(), tied.at(), judgment.at(), tie_met.at(), in_run.at(), retrieved.at(), top.at()};
    if (!released([&] { fill(whole, found, judged); })) Py_RETURN_NONE;
    return Py_BuildValue("(NNNNNNNNnO)", owner.take(), above.take(), tied.take(), judgment.take(), tie_met.take(), in_run.take(),
                         retrieved.take(), top.take(), static_cast<Py_ssize_t>(queries), names.get());
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
    if (ties < 0 || ties > 3 || start > size || part == 0) {
        PyErr_SetString(PyExc_ValueError, "the part of the file or the rule for ties is none");
        return nullptr;
    }
    Buffer held[7];
    Judged judged;
    if (!take_judgments(given, held, judged)) return nullptr;
    std::vector<Found> found;
    std::size_t queries = 0;
    const bool plain = released([&] {
        const Index index(std::move(judged));
        queries = index.size();
        found = match_file(index, path, start, size, static_cast<Ties>(ties), single != 0, std::max(1u, threads), part);
    });
    if (!plain) Py_RETURN_NONE;
    return tuple_of(found, queries);
}

PyDoc_STRVAR(match_frame_doc,
             "match_frame(query, doc, grade, query, doc, score, ties, single, threads) -> what match_run gives. Columns "
             "are capsules of Arrow's C streams, first those of the judgments, grouped by query, then those of the run.");

PyObject* match_frame_(PyObject*, PyObject* args) {
    PyObject* given[6];
    int ties = 0, single = 0;
    unsigned threads = 1;
    if (!PyArg_ParseTuple(args, "OOOOOOipI", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &ties, &single, &threads))
        return nullptr;
    if (ties < 0 || ties > 3) {
        PyErr_SetString(PyExc_ValueError, "there is no such rule for ties");
        return nullptr;
    }
    ArrowArrayStream* streams[6];
    for (int i = 0; i < 6; ++i) {
        streams[i] = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(given[i], "arrow_array_stream"));
        if (streams[i] == nullptr) return nullptr;
        if (streams[i]->release == nullptr) {
            PyErr_SetString(PyExc_ValueError, "the stream was read already");
            return nullptr;
        }
    }
    std::vector<Found> found;
    std::size_t queries = 0;
    const bool plain = released([&] {
        const Frame judgments(streams), run(streams + 3);
        const Index index(judged_of(judgments));
        queries = index.size();
        found = match_frame(index, run, static_cast<Ties>(ties), single != 0, std::max(1u, threads));
    });
    if (!plain) Py_RETURN_NONE;
    return tuple_of(found, queries);
}

PyDoc_STRVAR(match_dictionaries_doc,
             "match_dictionaries(judgments, run, ties, single, also) -> (counts, grades, owner, above, tied, judgment, "
             "tie_met, in_run, retrieved, top) or None where something is no plain dictionary, text or finite number. "
             "`also` is a type of numbers that holds them as floats do, such as numpy.float64.");

PyObject* match_dictionaries_(PyObject*, PyObject* args) {
    PyObject *judgments = nullptr, *run = nullptr, *also = nullptr;
    int ties = 0, single = 0;
    if (!PyArg_ParseTuple(args, "OOipO", &judgments, &run, &ties, &single, &also)) return nullptr;
    if (ties < 0 || ties > 3 || !PyType_Check(also) || PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(also), &PyFloat_Type) == 0) {
        PyErr_SetString(PyExc_ValueError, "there is no such rule for ties, or the type is none of floats");
        return nullptr;
    }
    if (!PyDict_CheckExact(judgments) || !PyDict_CheckExact(run)) Py_RETURN_NONE;
    Dictionaries found(static_cast<Ties>(ties), single != 0, reinterpret_cast<PyTypeObject*>(also));
    try {
        found.match(judgments, run);
    } catch (...) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(NNNNNNNNNN)", bytes_of(found.counts), bytes_of(found.grades), bytes_of(found.owner), bytes_of(found.above),
                         bytes_of(found.tied), bytes_of(found.judgment), bytes_of(found.tie_met), bytes_of(found.in_run),
                         bytes_of(found.retrieved), bytes_of(found.top));
}

PyDoc_STRVAR(is_plain_doc,
             "is_plain(mapping) -> whether it is a dictionary of dictionaries whose ids are texts; of each list, the "
             "first id is looked at.");

PyObject* is_plain_(PyObject*, PyObject* mapping) {
    try {
        return PyBool_FromLong(is_plain(mapping));
    } catch (...) {
        return PyErr_NoMemory();
    }
}

PyMethodDef methods[] = {
    {"is_plain", is_plain_, METH_O, is_plain_doc},
    {"read_judgments", read_judgments_, METH_VARARGS, read_judgments_doc},
    {"read_text", read_text_, METH_VARARGS, read_text_doc},
    {"match_run", match_run_, METH_VARARGS, match_run_doc},
    {"match_frame", match_frame_, METH_VARARGS, match_frame_doc},
    {"match_dictionaries", match_dictionaries_, METH_VARARGS, match_dictionaries_doc},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "rankgauge_native", "The time-critical step of rankgauge, compiled.", 0, methods, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_rankgauge_native() {
    PyObject* made = PyModule_Create(&module);
    if (made != nullptr && PyModule_AddIntConstant(made, "VERSION", 3) != 0) {
        Py_DECREF(made);
        return nullptr;
    }
    return made;
}
