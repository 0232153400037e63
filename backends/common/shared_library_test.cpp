#include "backends/common/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace primset_backend {
namespace {

struct Functions {
  decltype(&::memcpy) memcpy = nullptr;
  decltype(&::memset) memset = nullptr;
  void (*first_missing)() = nullptr;
  void (*second_missing)() = nullptr;
};

TEST(SharedLibrary, GivesTheFunctionsOfTheirNames) {
  SharedLibrary library("libc.so.6");
  ASSERT_TRUE(library);
  Functions f;
  library.need(f.memcpy, "memcpy");
  library.want(f.memset, "memset");
  EXPECT_EQ(library.missing(), "");
  char text[] = "....", other[] = "abcd";
  ASSERT_TRUE(f.memcpy && f.memset);
  f.memcpy(text, other, 2);
  f.memset(text + 2, '-', 2);
  EXPECT_STREQ(text, "ab--");
}

TEST(SharedLibrary, NamesTheFirstNeededFunctionThatIsMissing) {
  SharedLibrary library("libc.so.6");
  Functions f;
  library.want(f.first_missing, "primset_has_no_such_wanted_function");
  EXPECT_EQ(f.first_missing, nullptr);
  EXPECT_EQ(library.missing(), "") << "it is not needed";
  library.need(f.first_missing, "primset_has_no_such_function");
  library.need(f.second_missing, "primset_has_not_this_either");
  EXPECT_EQ(library.missing(), "libc.so.6 has no primset_has_no_such_function");
}

TEST(SharedLibrary, IsOpenFromWhenItIsOpened) {
  EXPECT_TRUE(SharedLibrary::is_open("libc.so.6"));
  // Of glibc, and nothing links it.
  constexpr const char* kUnused = "libBrokenLocale.so.1";
  EXPECT_FALSE(SharedLibrary::is_open(kUnused));
  if (!SharedLibrary(kUnused)) GTEST_SKIP() << "no " << kUnused << " here";
  EXPECT_TRUE(SharedLibrary::is_open(kUnused));
}

TEST(SharedLibrary, ThatIsNotThereHasNothing) {
  SharedLibrary library("libprimset_has_no_such_library.so.1");
  EXPECT_FALSE(library);
  Functions f;
  library.need(f.memcpy, "memcpy");
  EXPECT_EQ(f.memcpy, nullptr) << "found in another library of the process";
  EXPECT_THAT(library.missing(), testing::StartsWith("libprimset_has_no_such_library.so.1: "));
}

}  // namespace
}  // namespace primset_backend
