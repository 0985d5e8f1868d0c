// The bare scan of a run: every line's fields and score, in one thread, and nothing done with them.
#include <cstdio>
#include <vector>

#include "../native/src/lines.hpp"

int main(int, char** arguments) {
    using namespace rankgauge;
    std::FILE* file = std::fopen(arguments[1], "rb");
    if (file == nullptr) return 1;
    std::vector<char> text(4u << 20);
    std::size_t kept = 0, lines = 0;
    double sum = 0.0;
    while (true) {
        const std::size_t read = std::fread(text.data() + kept, 1, text.size() - kept, file);
        const char *at = text.data(), *const end = text.data() + kept + read;
        check_text(at, end);
        while (const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
            Line line{};
            if (read_line(at, static_cast<const char*>(found), 6, 4, line)) {
                ++lines;
                sum += line.number;
            }
            at = static_cast<const char*>(found) + 1;
        }
        if (read == 0) break;
        kept = static_cast<std::size_t>(end - at);
        std::memmove(text.data(), at, kept);
    }
    std::printf("%zu %g\n", lines, sum);
    std::fclose(file);
    return 0;
}
