// tests/main.cpp: the one translation unit that holds Catch2's own main.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
