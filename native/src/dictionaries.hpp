// Judgments and a run as dictionaries to ranks and grades of the judged documents that were retrieved.
//
// A judged document is looked up in its list; its rank is one more than the number of scores above its own. Texts are
// compared only where scores tie. A lookup may run Python code, where a dictionary has keys that are no texts, so
// whatever is used behind one is held, or read again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "ids.hpp"
#include "lists.hpp"
#include "python.hpp"

namespace rankgauge {

// A finite float, a whole number, or a number of the type that is told to be a float too; anything else is irregular.
inline double number_of(PyObject* value, PyTypeObject* also) {
    double number;
    if (PyFloat_CheckExact(value) || Py_TYPE(value) == also || PyLong_CheckExact(value)) {
        number = PyLong_CheckExact(value) ? PyLong_AsDouble(value) : PyFloat_AsDouble(value);
    } else {
        throw Irregular{};
    }
    if (!std::isfinite(number)) throw Irregular{};
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw Irregular{};
    return number;
}

// Whether a float's value stands behind its head, as in every CPython so far: the stable interface does not promise it.
inline bool floats_lie_open() {
    static const bool open = [] {
        for (const double value : {1.5, -0.0, 1e300, 5e-324}) {
            const Held made = Held::owned(PyFloat_FromDouble(value));
            const Held size = Held::owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyFloat_Type), "__basicsize__"));
            if (!made || !size || PyLong_AsSize_t(size.get()) < sizeof(PyObject) + sizeof(double)) {
                PyErr_Clear();
                return false;
            }
            if (std::memcmp(reinterpret_cast<const char*>(made.get()) + sizeof(PyObject), &value, sizeof value) != 0) return false;
        }
        return true;
    }();
    return open;
}

// The value under a key, or null.
inline PyObject* look_up(PyObject* dictionary, PyObject* key) {
    PyObject* found = PyDict_GetItemWithError(dictionary, key);
    if (found == nullptr && PyErr_Occurred() != nullptr) throw Irregular{};
    return found;
}

class Dictionaries {
public:
    Dictionaries(Ties ties, bool single, PyTypeObject* also) : ties_(ties), single_(single), also_(also) {}

    std::vector<std::int64_t> counts, retrieved, owner, above, tied, judgment;
    std::vector<double> grades, top;
    std::vector<std::uint8_t> in_run, tie_met;

    void match(PyObject* judgments, PyObject* run) {
        empty_ = Held::owned(PyUnicode_FromStringAndSize("", 0));
        if (!empty_) throw Irregular{};
        PyObject *query = nullptr, *docs = nullptr;
        Py_ssize_t found = 0;
        std::vector<Pair> pairs;
        for (Py_ssize_t at = 0; PyDict_Next(judgments, &at, &query, &docs);) {
            const Held name = text(query);
            Held judged = list(docs);
            Held listed = Held::borrowed(look_up(run, name.get()));
            found += static_cast<bool>(listed);
            pairs.push_back({std::move(judged), std::move(listed)});
        }
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (i + 2 * kListsAhead < pairs.size()) {
                fetch(pairs[i + 2 * kListsAhead].judged.get());
                fetch(pairs[i + 2 * kListsAhead].listed.get());
            }
            if (i + kListsAhead < pairs.size()) {
                fetch_entries(pairs[i + kListsAhead].judged.get());
                fetch_entries(pairs[i + kListsAhead].listed.get());
            }
            match_list(pairs[i].judged.get(), pairs[i].listed);
        }
        if (PyDict_Size(run) == found) return;
        for (Py_ssize_t at = 0; PyDict_Next(run, &at, &query, &docs);) {
            const Held name = text(query), listed = list(docs);
            if (look_up(judgments, name.get()) == nullptr) read_scores(listed.get());
        }
    }

private:
    struct Asked {
        double score;
        std::int64_t judgment;
        Held doc;
    };

    struct Pair {
        Held judged, listed;
    };

    // Asks for the first ids and numbers of a dictionary that comes soon.
    static void fetch_entries(PyObject* docs) {
        if (docs == nullptr) return;
        PyObject *doc = nullptr, *value = nullptr;
        Py_ssize_t at = 0;
        for (std::size_t n = 0; n < kEntriesAhead && PyDict_Next(docs, &at, &doc, &value); ++n) {
            fetch(doc);
            fetch(value);
        }
    }

    static Held text(PyObject* object) {
        if (!PyUnicode_CheckExact(object)) throw Irregular{};
        return Held::borrowed(object);
    }

    static Held list(PyObject* object) {
        if (!PyDict_CheckExact(object)) throw Irregular{};
        return Held::borrowed(object);
    }

    double score_of(PyObject* value) const {
        const double score = number_of(value, also_);
        return single_ ? static_cast<double>(static_cast<float>(score)) : score;
    }

    // The values of a dictionary, read together: asking for each ahead of its use halves the time.
    void values_of(PyObject* docs) {
        values_.clear();
        PyObject *doc = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(docs, &at, &doc, &value);) {
            values_.push_back(value);
            fetch(value);
        }
    }

    void read_scores(PyObject* docs) {
        if (look_up(docs, empty_.get()) != nullptr) throw Irregular{};
        values_of(docs);
        const std::size_t n = values_.size();
        scores_.resize(n);
        bool finite = true;
        for (std::size_t i = 0; i < n; ++i) {
            if (i + kAhead < n) fetch(values_[i + kAhead]);
            if (open_ && Py_TYPE(values_[i]) == &PyFloat_Type) {  // without a call, the memory works on several at once
                double value;
                std::memcpy(&value, reinterpret_cast<const char*>(values_[i]) + sizeof(PyObject), sizeof value);
                finite &= std::isfinite(value);
                scores_[i] = single_ ? static_cast<double>(static_cast<float>(value)) : value;
            } else {
                scores_[i] = score_of(values_[i]);
            }
        }
        if (!finite) throw Irregular{};
    }

    void match_list(PyObject* judged, const Held& listed) {
        scores_.clear();
        if (listed) {
            if (!PyDict_CheckExact(listed.get())) throw Irregular{};
            read_scores(listed.get());
        }
        asked_.clear();
        const std::size_t before = grades.size();
        PyObject *doc = nullptr, *grade = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(judged, &at, &doc, &grade);) {
            grades.push_back(number_of(grade, also_));
            Held name = text(doc);
            if (PyUnicode_GetLength(name.get()) == 0) throw Irregular{};
            if (scores_.empty()) continue;
            PyObject* score = look_up(listed.get(), name.get());
            if (score == nullptr) continue;
            const double own = score_of(score);
            asked_.push_back({own, static_cast<std::int64_t>(grades.size()) - 1, std::move(name)});
        }
        if (grades.size() > UINT32_MAX / 4 || scores_.size() > UINT32_MAX / 4) throw Irregular{};
        counts.push_back(static_cast<std::int64_t>(grades.size() - before));
        in_run.push_back(listed ? 1 : 0);
        retrieved.push_back(static_cast<std::int64_t>(scores_.size()));
        top.push_back(std::numeric_limits<double>::quiet_NaN());
        if (!scores_.empty()) {
            top.back() = ties_ == Ties::given ? scores_[0] : *std::max_element(scores_.begin(), scores_.end());
        }
        if (!asked_.empty()) rank(listed.get());
    }

    void rank(PyObject* listed) {
        ordered_ = false;
        hits_.clear();
        const bool falls = std::is_sorted(scores_.begin(), scores_.end(), std::greater<>());
        const bool search = falls || asked_.size() > kCounted;
        if (!falls && search) {
            sorted_.assign(scores_.begin(), scores_.end());
            std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
        }
        const std::vector<double>& descending = falls ? scores_ : sorted_;
        const auto query = static_cast<std::int64_t>(counts.size()) - 1;
        for (const Asked& one : asked_) {
            std::int64_t greater = 0, equal = 0;
            if (search) {
                const auto [first, last] = std::equal_range(descending.begin(), descending.end(), one.score, std::greater<>());
                greater = first - descending.begin();
                equal = last - first;
            } else {
                for (const double score : scores_) {
                    greater += score > one.score;
                    equal += score == one.score;
                }
            }
            if (equal == 0) throw Irregular{};  // the list changed under our eyes
            const bool fixed = ties_ == Ties::expected || (equal == 1 && ties_ != Ties::given);
            const std::int64_t at = fixed ? greater : place(listed, one, greater, equal, falls);
            hits_.push_back(hit_of(query, at, ties_ == Ties::expected ? equal : 1, one.judgment, equal > 1));
        }
        order_by_rank(hits_.data(), hits_.data() + hits_.size());
        for (const Hit& hit : hits_) {
            owner.push_back(hit.owner);
            above.push_back(hit.above);
            tied.push_back(hit.tied);
            judgment.push_back(hit.judgment);
            tie_met.push_back(hit.tie_met ? 1 : 0);
        }
    }

    // Documents before one that ties with others, or that stands where the list has it.
    std::int64_t place(PyObject* listed, const Asked& one, std::int64_t greater, std::int64_t equal, bool falls) {
        if (!ordered_) order(listed, falls);
        const auto begin = order_.begin() + greater, end = begin + equal;
        if (equal == 1) return *begin;
        const auto by_id = by_id_.begin() + greater;
        if (!known_[static_cast<std::size_t>(greater)]) {
            known_[static_cast<std::size_t>(greater)] = true;
            for (auto row = begin; row != end; ++row) ids_[*row] = bytes(keys_[*row]);
            std::copy(begin, end, by_id);
            std::sort(by_id, by_id + equal, [&](std::uint32_t a, std::uint32_t b) { return before(ids_[a], ids_[b]); });
        }
        const Field id = bytes(one.doc.get());
        const auto found = std::lower_bound(by_id, by_id + equal, id, [&](std::uint32_t a, const Field& b) { return before(ids_[a], b); });
        if (found == by_id + equal || !same(ids_[*found].begin, ids_[*found].length, id.begin, id.length)) throw Irregular{};
        if (ties_ == Ties::trec) return greater + (found - by_id);
        if (ties_ == Ties::given) return *found;
        return greater + (std::lower_bound(begin, end, *found) - begin);
    }

    // Rows by score, equal ones as they are listed. No Python code runs from here on until the list is done with.
    void order(PyObject* listed, bool falls) {
        const std::size_t n = scores_.size();
        keys_.clear();
        PyObject *doc = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(listed, &at, &doc, &value);) keys_.push_back(doc);
        if (keys_.size() != n) throw Irregular{};
        order_.resize(n);
        for (std::size_t i = 0; i < n; ++i) order_[i] = static_cast<std::uint32_t>(i);
        if (!falls) {
            std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
            });
        }
        by_id_.resize(n);
        ids_.resize(n);
        known_.assign(n, false);
        ordered_ = true;
    }

    static bool before(const Field& a, const Field& b) { return greater(a.begin, a.length, b.begin, b.length); }

    static Field bytes(PyObject* id) {
        Py_ssize_t length = 0;
        const char* text = PyUnicode_CheckExact(id) ? PyUnicode_AsUTF8AndSize(id, &length) : nullptr;
        if (text == nullptr) throw Irregular{};
        return {text, static_cast<std::size_t>(length)};
    }

    static constexpr std::size_t kAhead = 24;
    static constexpr std::size_t kListsAhead = 3, kEntriesAhead = 12;
    static constexpr std::size_t kCounted = 4;  // asked scores up to which counting beats sorting

    const Ties ties_;
    const bool single_;
    const bool open_ = floats_lie_open();
    PyTypeObject* const also_;
    Held empty_;
    std::vector<PyObject*> values_, keys_;
    std::vector<double> scores_, sorted_;
    std::vector<Asked> asked_;
    std::vector<Hit> hits_;
    std::vector<std::uint32_t> order_, by_id_;
    std::vector<Field> ids_;
    std::vector<bool> known_;
    bool ordered_ = false;
};

// Whether ids are texts and lists dictionaries, as far as that is looked at: of each list, its first id.
inline bool is_plain(PyObject* mapping) {
    if (!PyDict_CheckExact(mapping)) return false;
    std::vector<PyObject*> lists;
    PyObject *query = nullptr, *docs = nullptr, *doc = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(mapping, &at, &query, &docs);) {
        if (!PyUnicode_CheckExact(query)) return false;
        lists.push_back(docs);
    }
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (i + ahead < lists.size()) fetch(lists[i + ahead]);
        if (!PyDict_CheckExact(lists[i])) return false;
        Py_ssize_t at = 0;
        if (PyDict_Next(lists[i], &at, &doc, &value) && !PyUnicode_CheckExact(doc)) return false;
    }
    return true;
}

}  // namespace rankgauge
