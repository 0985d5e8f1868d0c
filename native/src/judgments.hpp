// Judgments: their rows as columns, and their queries and documents by their bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "ids.hpp"
#include "lines.hpp"
#include "threads.hpp"

namespace rankgauge {

// The columns of judgments, as they are filled.
struct Rows {
    std::int64_t *query_start, *query_length;
    std::uint64_t* query_key;
    std::int64_t *doc_start, *doc_length;
    std::uint64_t* doc_key;
    double* number;
};

// The text of judgments, of one subtopic alone, and no run that was given in their place. Threads read parts of it, of
// so many bytes or more, twice: how many rows they hold, and the rows, so that nothing is held twice.
class JudgmentText {
public:
    JudgmentText(const char* text, std::size_t begin, std::size_t end, std::size_t threads, std::size_t part_size) : text_(text) {
        const std::size_t most = std::max<std::size_t>(1, std::min(threads, (end - begin) / part_size));
        bounds_.push_back(begin);
        for (std::size_t i = 1; i < most; ++i) {  // each part ends behind a line
            const std::size_t place = std::max(bounds_.back(), begin + (end - begin) / most * i);
            const void* newline = std::memchr(text + place, '\n', end - place);
            bounds_.push_back(newline == nullptr ? end : static_cast<std::size_t>(static_cast<const char*>(newline) - text) + 1);
        }
        bounds_.push_back(end);
        first_.resize(bounds_.size());
        each_part([&](std::size_t part) {
            check_text(text_ + bounds_[part], text_ + bounds_[part + 1]);
            for_lines(part, [&](const char* at, const char* stop) {
                if (*at == '#') return;
                while (at < stop && is_blank(*at)) ++at;
                first_[part + 1] += at < stop;
            });
        });
        for (std::size_t part = 1; part < first_.size(); ++part) first_[part] += first_[part - 1];
        if (rows() == 0) throw Irregular{};
    }

    std::size_t rows() const { return first_.back(); }

    void read(const Rows& rows) const {
        std::vector<Field> subtopics(bounds_.size(), Field{nullptr, 0});
        each_part([&](std::size_t part) {
            std::size_t row = first_[part];
            Field subtopic{nullptr, 0};
            Line line{};
            for_lines(part, [&](const char* at, const char* stop) {
                if (!read_line(at, stop, 4, 3, line)) return;
                if (line.fields >= 6 || row == first_[part + 1]) throw Irregular{};
                if (subtopic.begin == nullptr) subtopic = line.second;
                if (!same(subtopic.begin, subtopic.length, line.second.begin, line.second.length)) throw Irregular{};
                rows.query_start[row] = line.query.begin - text_;
                rows.query_length[row] = static_cast<std::int64_t>(line.query.length);
                rows.query_key[row] = key_of(line.query.begin, line.query.length);
                rows.doc_start[row] = line.doc.begin - text_;
                rows.doc_length[row] = static_cast<std::int64_t>(line.doc.length);
                rows.doc_key[row] = key_of(line.doc.begin, line.doc.length);
                rows.number[row++] = line.number;
            });
            if (row != first_[part + 1]) throw Irregular{};
            subtopics[part] = subtopic;
        });
        const Field* own = nullptr;
        for (const Field& other : subtopics) {
            if (other.begin == nullptr) continue;
            if (own == nullptr) own = &other;
            if (!same(own->begin, own->length, other.begin, other.length)) throw Irregular{};
        }
    }

private:
    template <typename Work>
    void each_part(Work work) const {
        const std::size_t parts = bounds_.size() - 1;
        std::atomic<std::size_t> next{0};
        if (!in_threads(parts, parts, [&](std::size_t, const std::atomic<bool>& failed) {
                for (std::size_t i = next++; i < parts && !failed; i = next++) work(i);
            }))
            throw Irregular{};
    }

    // Does work(begin, end) for each line that is not empty.
    template <typename Work>
    void for_lines(std::size_t part, Work work) const {
        const char* const last = text_ + bounds_[part + 1];
        for (const char* at = text_ + bounds_[part]; at < last;) {
            const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(last - at)));
            const char* stop = newline == nullptr ? last : newline;
            if (at < stop) work(at, stop);
            at = stop + 1;
        }
    }

    const char* const text_;
    std::vector<std::size_t> bounds_, first_;  // of the parts: where they begin, and their first rows
};

// An id and its key.
struct Id {
    const char* begin;
    std::size_t length;
    std::uint64_t key;
};

inline bool same(const Id& a, const Id& b) { return same(a.begin, a.length, b.begin, b.length); }

// Rows of judgments, those of a query one after the other. Documents are told by columns that others hold, or by ids.
struct Judged {
    std::vector<Id> queries;
    std::vector<std::int64_t> starts;
    std::size_t rows = 0;
    std::vector<Id> docs;
    const char* text = nullptr;
    const std::int64_t *doc_start = nullptr, *doc_length = nullptr;
    const std::uint64_t* doc_key = nullptr;

    // The next row's query.
    void add(const Id& query) {
        if (queries.empty() || queries.back().key != query.key || !same(queries.back(), query)) {
            queries.push_back(query);
            starts.push_back(static_cast<std::int64_t>(rows));
        }
        ++rows;
    }

    Id doc(std::int64_t row) const {
        const auto at = static_cast<std::size_t>(row);
        if (text == nullptr) return docs[at];
        return {text + doc_start[at], static_cast<std::size_t>(doc_length[at]), doc_key[at]};
    }
};

// Judged queries by their bytes. A query that comes back, or a document that stands twice, is irregular.
class Index {
public:
    explicit Index(Judged judged) : starts(std::move(judged.starts)), judged_(std::move(judged)) {
        const std::vector<Id>& query = judged_.queries;
        if (judged_.rows > UINT32_MAX / 4) throw Irregular{};
        starts.push_back(static_cast<std::int64_t>(judged_.rows));
        queries_.begin(query.size());
        for (std::uint32_t i = 0; i < query.size(); ++i) {
            if (queries_.enter(query[i].key, i, [&](std::uint32_t other) { return same(query[other], query[i]); }) >= 0)
                throw Irregular{};
        }
        Table docs;
        for (std::size_t i = 0; i < query.size(); ++i) {
            docs.begin(static_cast<std::size_t>(starts[i + 1] - starts[i]));
            for (std::uint32_t row = 0; row < starts[i + 1] - starts[i]; ++row) {
                const Id own = judged_.doc(starts[i] + row);
                if (docs.enter(own.key, row, [&](std::uint32_t other) { return same(own, judged_.doc(starts[i] + other)); }) >= 0)
                    throw Irregular{};
            }
        }
    }

    std::size_t size() const { return starts.size() - 1; }
    const Judged& judged() const { return judged_; }

    // The number of a query, or -1; `likely` is tried first, for runs often list queries as the judgments do.
    std::int64_t find(const Id& query, std::int64_t likely) const {
        if (likely >= 0 && likely < static_cast<std::int64_t>(size()) && same(judged_.queries[static_cast<std::size_t>(likely)], query))
            return likely;
        return queries_.find(query.key, [&](std::uint32_t other) { return same(judged_.queries[other], query); });
    }

    std::vector<std::int64_t> starts;

private:
    const Judged judged_;
    Table queries_;
};

}  // namespace rankgauge
