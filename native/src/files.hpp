// Runs as files, of which each thread reads its own parts.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "lines.hpp"
#include "lists.hpp"
#include "threads.hpp"

namespace rankgauge {

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

}  // namespace rankgauge
