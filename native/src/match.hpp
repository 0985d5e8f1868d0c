// Judgments and a run as text to ranks and grades of the judged documents that were retrieved.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ids.hpp"
#include "lines.hpp"

namespace rankgauge {

enum class Ties { trec, given, expected, stable };

// The columns of judgments, as they are filled.
struct Rows {
    std::int64_t *query_start, *query_length;
    std::uint64_t* query_key;
    std::int64_t *doc_start, *doc_length;
    std::uint64_t* doc_key;
    double* number;
};

// Does work(thread, failed) in up to so many threads; false if it threw in one of them: irregular, or no memory.
template <typename Work>
bool in_threads(std::size_t threads, std::size_t most, Work work) {
    std::atomic<bool> failed{false};
    const auto safely = [&](std::size_t number) {
        try {
            work(number, failed);
        } catch (...) {
            failed = true;
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < threads && i < most; ++i) others.emplace_back(safely, i);
    } catch (...) {  // no more threads: those there are will do
    }
    safely(0);
    for (std::thread& other : others) other.join();
    return !failed;
}

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

struct Hit {
    std::uint32_t owner, above, tied, judgment;
    bool tie_met;
};

// Of no more than a quarter of what 32 bits count to, as lists and judgments are checked to be.
inline Hit hit_of(std::int64_t owner, std::int64_t above, std::int64_t tied, std::int64_t judgment, bool tie_met) {
    const auto narrow = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
    return {narrow(owner), narrow(above), narrow(tied), narrow(judgment), tie_met};
}

// What a part of the run gave.
struct Found {
    std::vector<Hit> hits;
    std::vector<std::int64_t> owner, retrieved;  // of the judged queries in it
    std::vector<double> top;
    std::vector<std::string> unjudged, first;  // queries in it that have no judgments, and those that stand first
    std::size_t queries = 0;
};

constexpr std::size_t kFirst = 5;

// In rank order; those at one rank stay as they are.
inline void order_by_rank(Hit* begin, Hit* end) {
    const auto before = [](const Hit& a, const Hit& b) { return a.above < b.above; };
    if (end - begin > 32) {
        if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
        return;
    }
    for (Hit* next = begin; next < end; ++next) {  // without the memory that a stable sort asks for
        const Hit own = *next;
        Hit* place = next;
        for (; place > begin && own.above < place[-1].above; --place) *place = place[-1];
        *place = own;
    }
}

struct Listed {
    double score;
    std::uint64_t key;
    const char* doc;
    std::uint32_t length;
};

// One list after the other.
class Lists {
public:
    Lists(const Index& index, Ties ties, bool single) : index_(index), ties_(ties), single_(single) {}

    Found found;
    std::vector<Listed> rows;

    void finish(const Id& query) {
        const std::int64_t owner = index_.find(query, likely_);
        ++found.queries;
        if (found.first.size() < kFirst) found.first.emplace_back(query.begin, query.length);
        if (owner < 0) found.unjudged.emplace_back(query.begin, query.length);
        const std::size_t n = rows.size();
        if (n > UINT32_MAX / 4) throw Irregular{};
        docs_.begin(n);
        for (std::size_t i = 0; i < n; ++i) {
            const Listed& own = rows[i];
            if (docs_.enter(own.key, static_cast<std::uint32_t>(i), [&](std::uint32_t other) {
                    return same(own.doc, own.length, rows[other].doc, rows[other].length);
                }) >= 0)
                throw Irregular{};  // stands twice
        }
        if (owner >= 0) match(owner);
        likely_ = owner + 1;
        rows.clear();
    }

private:
    void match(std::int64_t owner) {
        const std::size_t n = rows.size();
        double best = rows[0].score;
        bool falls = true;  // strictly, so that every row's place is its rank
        if (single_) {
            for (Listed& row : rows) row.score = static_cast<double>(static_cast<float>(row.score));
            best = rows[0].score;
        }
        for (std::size_t i = 1; i < n; ++i) {
            falls &= rows[i].score < rows[i - 1].score;
            best = std::max(best, rows[i].score);
        }
        found.owner.push_back(owner);
        found.retrieved.push_back(static_cast<std::int64_t>(n));
        found.top.push_back(ties_ == Ties::given ? rows[0].score : best);
        const Judged& judged = index_.judged();
        const std::size_t before = found.hits.size();
        bool ordered = false;
        for (std::int64_t row = index_.starts[owner]; row < index_.starts[owner + 1]; ++row) {
            const Id doc = judged.doc(row);
            const std::int64_t at = docs_.find(doc.key, [&](std::uint32_t other) {
                return same(doc.begin, doc.length, rows[other].doc, rows[other].length);
            });
            if (at < 0) continue;
            if (falls) {
                found.hits.push_back(hit_of(owner, at, 1, row, false));
                continue;
            }
            if (!ordered) order();
            ordered = true;
            tied_.push_back({static_cast<std::uint32_t>(at), row});
        }
        // Documents that stay tied stand as the run lists them.
        std::sort(tied_.begin(), tied_.end());
        for (const auto& [at, row] : tied_) found.hits.push_back(place(owner, row, at));
        tied_.clear();
        order_by_rank(found.hits.data() + before, found.hits.data() + found.hits.size());
    }

    // Positions of the rows by score, ties as the contract has them.
    void order() {
        const auto n = static_cast<std::uint32_t>(rows.size());
        order_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) order_[i] = i;
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (rows[a].score != rows[b].score) return rows[a].score > rows[b].score;
            if (ties_ == Ties::trec) return greater(rows[a].doc, rows[a].length, rows[b].doc, rows[b].length);
            return a < b;
        });
        rank_.resize(n);
        first_.resize(n);
        size_.resize(n);
        for (std::uint32_t i = 0; i < n;) {
            std::uint32_t end = i + 1;
            while (end < n && rows[order_[end]].score == rows[order_[i]].score) ++end;
            for (std::uint32_t j = i; j < end; ++j) {
                rank_[order_[j]] = j;
                first_[order_[j]] = i;
                size_[order_[j]] = end - i;
            }
            i = end;
        }
    }

    Hit place(std::int64_t owner, std::int64_t judgment, std::uint32_t at) const {
        const bool met = size_[at] > 1;
        if (ties_ == Ties::expected) return hit_of(owner, first_[at], size_[at], judgment, met);
        return hit_of(owner, ties_ == Ties::given ? at : rank_[at], 1, judgment, met);
    }

    const Index& index_;
    const Ties ties_;
    const bool single_;
    std::int64_t likely_ = 0;
    Table docs_;
    std::vector<std::uint32_t> order_, rank_, first_, size_;
    std::vector<std::pair<std::uint32_t, std::int64_t>> tied_;
};

// A file of which each thread reads its own parts.
class Reader {
public:
    // Paths are UTF-8 on Windows, bytes elsewhere.
    explicit Reader(const char* path) {
        file_.rdbuf()->pubsetbuf(nullptr, 0);
        file_.open(std::filesystem::u8path(path), std::ios::binary);
        if (!file_) throw Irregular{};
    }

    // The bytes from `begin` on, as many as are wanted; a file that became shorter is irregular.
    void read(std::uint64_t begin, std::size_t size, char* into) {
        file_.seekg(static_cast<std::streamoff>(begin));
        if (!file_.read(into, static_cast<std::streamsize>(size))) throw Irregular{};
    }

private:
    std::ifstream file_;
};

constexpr std::uint64_t kPart = 4u << 20;
constexpr std::uint64_t kMore = 1u << 20;      // read beyond a part, and again, until its last list ends
constexpr std::uint64_t kLongestLine = 1u << 20;
constexpr std::uint64_t kLongestList = 1u << 30;  // bytes

// The lists that begin in [begin, end) of a file.
class Part {
public:
    Part(Reader& reader, std::uint64_t start, std::uint64_t size) : reader_(reader), start_(start), size_(size) {}

    void read(std::uint64_t begin, std::uint64_t end, Lists& lists) {
        base_ = read_ = begin > start_ ? line_before(begin) : start_;
        checked_ = 0;
        docs_.clear();
        grow(end - base_);
        std::size_t query = 0, length = 0;  // of the line before
        bool own = false;
        Line line{};
        for (std::size_t at = 0, stop = 0; (stop = line_end(at)) != kNone; at = stop + 1) {
            const char* text = buffer_.data();
            if (!read_line(text + at, text + stop, 6, 4, line)) continue;
            const std::uint64_t here = base_ + at;
            if (length == 0 || !same(text + query, length, line.query.begin, line.query.length)) {
                if (own) finish(lists, query, length);
                own = here >= begin;
                if (here >= end) return;
                query = static_cast<std::size_t>(line.query.begin - text);
                length = line.query.length;
            } else if (!own && here >= end) {
                return;  // all of it lies inside a list of another part
            }
            if (!own) continue;
            docs_.push_back({static_cast<std::size_t>(line.doc.begin - text), line.number,
                             key_of(line.doc.begin, line.doc.length), static_cast<std::uint32_t>(line.doc.length)});
        }
        if (own) finish(lists, query, length);
    }

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    struct Doc {
        std::size_t at;
        double score;
        std::uint64_t key;
        std::uint32_t length;
    };

    void finish(Lists& lists, std::size_t query, std::size_t length) {
        const char* text = buffer_.data();
        lists.rows.clear();
        lists.rows.reserve(docs_.size());
        for (const Doc& doc : docs_) lists.rows.push_back({doc.score, doc.key, text + doc.at, doc.length});
        docs_.clear();
        lists.finish({text + query, length, key_of(text + query, length)});
    }

    std::size_t have() const { return static_cast<std::size_t>(read_ - base_); }

    // Reads so many more bytes and checks the whole lines among them; false at the file's end.
    bool grow(std::uint64_t more) {
        const auto take = static_cast<std::size_t>(std::min(more, size_ - read_));
        if (take == 0) return false;
        const std::size_t had = have();
        if (had + take > kLongestList) throw Irregular{};
        if (buffer_.size() < had + take + kPadding) buffer_.resize(had + take + kPadding);
        reader_.read(read_, take, buffer_.data() + had);
        std::memset(buffer_.data() + had + take, 0, kPadding);
        read_ += take;
        const char* text = buffer_.data();
        std::size_t whole = have();
        if (read_ < size_) {
            while (whole > checked_ && text[whole - 1] != '\n') --whole;
        }
        check_text(text + checked_, text + whole);
        checked_ = whole;
        return true;
    }

    // Where the line ends that begins at `at`; none behind the last one. What it gives lies within what was checked.
    std::size_t line_end(std::size_t at) {
        while (true) {
            if (at < checked_) {
                const void* found = std::memchr(buffer_.data() + at, '\n', checked_ - at);
                if (found != nullptr) return static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
                if (read_ == size_) return checked_;  // the last line, without its end
            }
            if (have() > at && have() - at > kLongestLine) throw Irregular{};
            if (!grow(kMore)) return kNone;
        }
    }

    // Where the last line begins that begins before `place` and looks like one of a list; else the text's start.
    std::uint64_t line_before(std::uint64_t place) {
        for (std::uint64_t back = 1u << 14;; back *= 4) {
            const std::uint64_t from = place - start_ > back ? place - back : start_;
            const auto n = static_cast<std::size_t>(place - from);
            buffer_.resize(std::max(buffer_.size(), n + kPadding));
            reader_.read(from, n, buffer_.data());
            for (std::size_t at = n - 1; at-- > 0;) {
                const char c = buffer_[at + 1];
                if (buffer_[at] == '\n' && c != '#' && !ends_field(c)) return from + at + 1;
            }
            if (from == start_) return start_;
            if (back > 4 * kLongestLine) throw Irregular{};
        }
    }

    Reader& reader_;
    const std::uint64_t start_, size_;
    std::uint64_t base_ = 0, read_ = 0;  // the buffer holds [base_, read_)
    std::size_t checked_ = 0;
    std::vector<char> buffer_;
    std::vector<Doc> docs_;
};

// All lists of a file, read by some threads.
inline std::vector<Found> match_file(const Index& index, const char* path, std::uint64_t start, std::uint64_t size,
                                     Ties ties, bool single, unsigned threads, std::uint64_t part_size) {
    const auto parts = static_cast<std::size_t>((size - start + part_size - 1) / part_size);
    std::vector<Found> found(parts);
    std::atomic<std::size_t> next{0};
    const bool done = in_threads(threads, parts, [&](std::size_t, const std::atomic<bool>& failed) {
        Reader reader(path);
        Lists lists(index, ties, single);
        Part part(reader, start, size);
        for (std::size_t i = next++; i < parts && !failed; i = next++) {
            const std::uint64_t begin = start + i * part_size;
            part.read(begin, std::min(begin + part_size, size), lists);
            found[i] = std::move(lists.found);
            lists.found = Found{};
        }
    });
    if (!done) throw Irregular{};
    return found;
}

// What all parts gave, as columns that are filled: of the hits, and of the judged queries.
struct Whole {
    std::int64_t *owner, *above, *tied, *judgment;
    std::uint8_t *tie_met, *in_run;
    std::int64_t* retrieved;
    double* top;
};

inline std::size_t hits_in(const std::vector<Found>& found) {
    std::size_t hits = 0;
    for (const Found& one : found) hits += one.hits.size();
    return hits;
}

// The queries in all parts, judged or not; none is irregular, and so is one that comes back.
inline std::size_t queries_in(const std::vector<Found>& found) {
    std::size_t queries = 0, unjudged = 0;
    for (const Found& one : found) {
        queries += one.queries;
        unjudged += one.unjudged.size();
    }
    if (queries == 0 || unjudged > UINT32_MAX / 4) throw Irregular{};
    std::vector<const std::string*> heads;
    heads.reserve(unjudged);
    Table seen;
    seen.begin(unjudged);
    for (const Found& one : found) {
        for (const std::string& head : one.unjudged) {
            if (seen.enter(key_within(head.data(), head.size()), static_cast<std::uint32_t>(heads.size()),
                           [&](std::uint32_t other) { return *heads[other] == head; }) >= 0)
                throw Irregular{};
            heads.push_back(&head);
        }
    }
    return queries;
}

inline void fill(const Whole& whole, const std::vector<Found>& found, std::size_t judged) {
    std::fill_n(whole.in_run, judged, std::uint8_t{0});
    std::fill_n(whole.retrieved, judged, std::int64_t{0});
    std::fill_n(whole.top, judged, std::nan(""));
    std::size_t place = 0;
    for (const Found& one : found) {
        for (std::size_t i = 0; i < one.owner.size(); ++i) {
            const auto at = static_cast<std::size_t>(one.owner[i]);
            if (whole.in_run[at] != 0) throw Irregular{};
            whole.in_run[at] = 1;
            whole.retrieved[at] = one.retrieved[i];
            whole.top[at] = one.top[i];
        }
        for (const Hit& hit : one.hits) {
            whole.owner[place] = hit.owner;
            whole.above[place] = hit.above;
            whole.tied[place] = hit.tied;
            whole.judgment[place] = hit.judgment;
            whole.tie_met[place++] = hit.tie_met ? 1 : 0;
        }
    }
}

}  // namespace rankgauge
