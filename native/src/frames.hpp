// Columns in memory, in Arrow's form, to ranks and grades of the judged documents that were retrieved.
//
// Rows may stand in any order. They are numbered by their query and those of a query put together, each as it is
// listed; nothing is sorted but a list whose ranks are asked for.
#pragma once

#include <utility>
#include <vector>

#include "judgments.hpp"
#include "lists.hpp"
#include "threads.hpp"

namespace rankgauge {

// As the specification of Arrow's C data interface has them.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

// What must be given back once it was filled in.
template <typename Arrow>
class Given {
public:
    Given() = default;
    Given(Given&& other) noexcept : it(other.it) { other.it.release = nullptr; }
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;
    ~Given() {
        if (it.release != nullptr) it.release(&it);
    }
    Arrow it{};
};

// A column of texts: views of 16 bytes that hold short texts themselves, or offsets into one text.
class Texts {
public:
    Texts(const char* format, const ArrowArray& array, std::size_t row) : buffers_(array.buffers) {
        const std::int64_t offset = array.offset + static_cast<std::int64_t>(row);
        const std::int64_t least = std::strcmp(format, "vu") == 0 ? 2 : 3;
        if (array.n_buffers < least || array.buffers[1] == nullptr) throw Irregular{};
        if (std::strcmp(format, "vu") == 0) {
            places_ = static_cast<const char*>(array.buffers[1]) + 16 * offset;
            kind_ = Kind::views;
        } else if (std::strcmp(format, "U") == 0) {
            places_ = static_cast<const char*>(array.buffers[1]) + 8 * offset;
            kind_ = Kind::large;
        } else if (std::strcmp(format, "u") == 0) {
            places_ = static_cast<const char*>(array.buffers[1]) + 4 * offset;
            kind_ = Kind::small;
        } else {
            throw Irregular{};
        }
    }

    Field at(std::size_t row) const {
        if (kind_ == Kind::views) {
            const char* view = places_ + 16 * row;
            const auto length = load<std::int32_t>(view);
            if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
            const auto* text = static_cast<const char*>(buffers_[2 + load<std::int32_t>(view + 8)]);
            return {text + load<std::int32_t>(view + 12), static_cast<std::size_t>(length)};
        }
        const auto* text = static_cast<const char*>(buffers_[2]);
        if (kind_ == Kind::large) return between(text, load<std::int64_t>(places_ + 8 * row), load<std::int64_t>(places_ + 8 * row + 8));
        return between(text, load<std::int32_t>(places_ + 4 * row), load<std::int32_t>(places_ + 4 * row + 4));
    }

    // Where a row is told, for asking ahead.
    const char* place(std::size_t row) const {
        return places_ + row * (kind_ == Kind::views ? 16 : kind_ == Kind::large ? 8 : 4);
    }

private:
    enum class Kind { views, large, small };

    template <typename T>
    static T load(const char* place) {
        T value;
        std::memcpy(&value, place, sizeof value);
        return value;
    }

    static Field between(const char* text, std::int64_t begin, std::int64_t end) {
        return {text + begin, static_cast<std::size_t>(end - begin)};
    }

    const void* const* buffers_;
    const char* places_ = nullptr;
    Kind kind_ = Kind::views;
};

// A column as a stream gives it, in pieces; no value is missing.
class Column {
public:
    explicit Column(ArrowArrayStream* stream) {
        if (stream->get_schema(stream, &schema_.it) != 0) throw Irregular{};
        while (true) {
            Given<ArrowArray> piece;
            if (stream->get_next(stream, &piece.it) != 0) throw Irregular{};
            if (piece.it.release == nullptr) break;
            if (piece.it.null_count != 0 || piece.it.dictionary != nullptr) throw Irregular{};
            if (piece.it.length > 0) pieces.push_back(std::move(piece));
        }
    }

    const char* format() const { return schema_.it.format; }
    std::vector<Given<ArrowArray>> pieces;

private:
    Given<ArrowSchema> schema_;
};

// Columns query, doc and number of the same length.
class Frame {
public:
    explicit Frame(ArrowArrayStream* const* streams) : query_(streams[0]), doc_(streams[1]), number_(streams[2]) {
        if (std::strcmp(number_.format(), "g") != 0) throw Irregular{};
        // Each column has pieces of its own; a part lies within one of each.
        const Column* const columns[] = {&query_, &doc_, &number_};
        std::size_t piece[3] = {}, row[3] = {};
        begins_.push_back(0);
        const auto ended = [&](int i) { return piece[i] == columns[i]->pieces.size(); };
        while (!ended(0) && !ended(1) && !ended(2)) {
            std::size_t length = static_cast<std::size_t>(-1);
            for (int i = 0; i < 3; ++i)
                length = std::min(length, static_cast<std::size_t>(columns[i]->pieces[piece[i]].it.length) - row[i]);
            const auto array = [&](int i) -> const ArrowArray& { return columns[i]->pieces[piece[i]].it; };
            if (array(2).n_buffers != 2 || array(2).buffers[1] == nullptr) throw Irregular{};
            parts_.push_back({Texts(query_.format(), array(0), row[0]), Texts(doc_.format(), array(1), row[1]),
                              static_cast<const double*>(array(2).buffers[1]) + array(2).offset + row[2]});
            begins_.push_back(begins_.back() + length);
            for (int i = 0; i < 3; ++i) {
                row[i] += length;
                if (row[i] == static_cast<std::size_t>(array(i).length)) {
                    ++piece[i];
                    row[i] = 0;
                }
            }
        }
        if (!ended(0) || !ended(1) || !ended(2) || rows() == 0 || rows() > UINT32_MAX / 4) throw Irregular{};
        for (std::size_t part = 0, first = 0; first < rows(); first += kBlock) {
            while (begins_[part + 1] <= first) ++part;
            first_.push_back(static_cast<std::uint32_t>(part));
        }
    }

    std::size_t rows() const { return begins_.back(); }

    struct Part {
        Texts query, doc;
        const double* number;
    };

    // The part that holds a row, and its number there.
    std::pair<const Part*, std::size_t> at(std::size_t row) const {
        std::size_t part = first_[row / kBlock];
        while (begins_[part + 1] <= row) ++part;
        return {&parts_[part], row - begins_[part]};
    }

private:
    static constexpr std::size_t kBlock = 1u << 12;

    const Column query_, doc_, number_;
    std::vector<Part> parts_;
    std::vector<std::size_t> begins_;
    std::vector<std::uint32_t> first_;  // the part in which each block of rows begins
};

inline Id id_of(const Field& text) { return {text.begin, text.length, key_within(text.begin, text.length)}; }

// Numbers of queries in the order in which they come.
class Numbered {
public:
    std::vector<Id> ids;

    std::uint32_t number(const Id& id) {
        if (ids.size() >= room_) grow();
        const auto next = static_cast<std::uint32_t>(ids.size());
        const std::int64_t known = table_.enter(id.key, next, [&](std::uint32_t other) { return same(ids[other], id); });
        if (known >= 0) return static_cast<std::uint32_t>(known);
        ids.push_back(id);
        return next;
    }

private:
    void grow() {
        room_ = std::max<std::size_t>(1024, 2 * room_);
        table_.begin(room_);
        for (std::uint32_t i = 0; i < ids.size(); ++i) table_.enter(ids[i].key, i, [](std::uint32_t) { return false; });
    }

    Table table_;
    std::size_t room_ = 0;
};

// Rows by query: those of query i are rows[starts[i]] to rows[starts[i + 1]], as they stand.
struct Grouped {
    std::vector<Id> queries;
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> rows;
};

inline Grouped grouped(const Frame& frame, std::size_t threads) {
    const std::size_t n = frame.rows();
    threads = std::max<std::size_t>(1, std::min(threads, n / 4096));
    const auto begin = [&](std::size_t thread) { return n / threads * thread; };
    const auto end = [&](std::size_t thread) { return thread + 1 == threads ? n : begin(thread + 1); };
    std::vector<Numbered> own(threads);
    std::vector<std::uint32_t> number(n);
    std::atomic<std::size_t> next{0};
    const auto each = [&](auto work) {
        next = 0;
        if (!in_threads(threads, threads, [&](std::size_t, const std::atomic<bool>&) {
                for (std::size_t i = next++; i < threads; i = next++) work(i);
            }))
            throw Irregular{};
    };
    each([&](std::size_t thread) {
        Numbered& names = own[thread];
        Field before{nullptr, 0};
        std::uint32_t last = 0;
        for (std::size_t row = begin(thread); row < end(thread); ++row) {
            const auto [part, at] = frame.at(row);
            const Field query = part->query.at(at);
            if (before.begin == nullptr || !same(before.begin, before.length, query.begin, query.length)) {
                last = names.number(id_of(query));
                before = query;
            }
            number[row] = last;
        }
    });
    Numbered all;
    std::vector<std::vector<std::uint32_t>> global(threads);
    for (std::size_t thread = 0; thread < threads; ++thread) {
        for (const Id& id : own[thread].ids) global[thread].push_back(all.number(id));
    }
    Grouped result;
    result.queries = std::move(all.ids);
    std::vector<std::vector<std::uint32_t>> place(threads);
    each([&](std::size_t thread) {
        place[thread].assign(result.queries.size(), 0);
        for (std::size_t row = begin(thread); row < end(thread); ++row) ++place[thread][number[row] = global[thread][number[row]]];
    });
    std::uint32_t total = 0;
    for (std::size_t query = 0; query < result.queries.size(); ++query) {
        result.starts.push_back(total);
        for (std::size_t thread = 0; thread < threads; ++thread) total += std::exchange(place[thread][query], total);
    }
    result.starts.push_back(total);
    result.rows.resize(n);
    each([&](std::size_t thread) {
        for (std::size_t row = begin(thread); row < end(thread); ++row)
            result.rows[place[thread][number[row]]++] = static_cast<std::uint32_t>(row);
    });
    return result;
}

// Judgments with the rows of each query together, as they stand.
inline Judged judged_of(const Frame& frame) {
    Judged judged;
    judged.docs.reserve(frame.rows());
    for (std::size_t row = 0; row < frame.rows(); ++row) {
        const auto [part, at] = frame.at(row);
        judged.add(id_of(part->query.at(at)));
        judged.docs.push_back(id_of(part->doc.at(at)));
    }
    return judged;
}

inline std::vector<Found> match_frame(const Index& index, const Frame& frame, Ties ties, bool single, std::size_t threads) {
    const Grouped lists = grouped(frame, threads);
    constexpr std::size_t kRows = 1u << 16;  // that a thread takes at a time
    std::vector<std::size_t> bounds{0};      // queries
    for (std::size_t query = 1; query < lists.queries.size(); ++query) {
        if (lists.starts[query] - lists.starts[bounds.back()] >= kRows) bounds.push_back(query);
    }
    const std::size_t parts = bounds.size();
    bounds.push_back(lists.queries.size());
    std::vector<Found> found(parts);
    std::atomic<std::size_t> next{0};
    const bool done = in_threads(threads, parts, [&](std::size_t, const std::atomic<bool>& failed) {
        Lists own(index, ties, single);
        for (std::size_t i = next++; i < parts && !failed; i = next++) {
            for (std::size_t query = bounds[i]; query < bounds[i + 1]; ++query) {
                const std::size_t last = lists.starts[query + 1];
                for (std::size_t at = lists.starts[query]; at < last; ++at) {
                    if (at + 16 < last) {
                        const auto [part, row] = frame.at(lists.rows[at + 16]);
                        fetch(part->doc.place(row));
                        fetch(part->number + row);
                    }
                    const auto [part, row] = frame.at(lists.rows[at]);
                    const Field doc = part->doc.at(row);
                    if (doc.length > UINT32_MAX) throw Irregular{};
                    own.rows.push_back({part->number[row], key_within(doc.begin, doc.length), doc.begin, static_cast<std::uint32_t>(doc.length)});
                }
                own.finish(lists.queries[query]);
            }
            found[i] = std::move(own.found);
            own.found = Found{};
        }
    });
    if (!done) throw Irregular{};
    return found;
}

}  // namespace rankgauge
