#!/bin/bash
# Testudo: every public header alone, and clients of them all, in every
# standard of C and C++ that the compilers here know, without a warning. Given
# libraries to link with, every function of the interface is in them, too.
# SPDX-License-Identifier: BSD-2-Clause
#
# usage: check_headers.sh [LIBRARY...], with absolute paths
set -u
cd "$(dirname "$0")/.." || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

warnings=(-Wall -Wextra -Werror -pedantic)
c_standards=(c90 gnu90 c99 gnu99 c11 gnu11 c17 gnu17 c2x gnu2x)
cxx_standards=(c++11 gnu++11 c++14 c++17 c++20 c++2b gnu++2b)
passed=0
failed=0
known=

# verdict STATUS WHAT...: count one check; say what failed.
verdict() {
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    shift
    echo "FAILED: $*"
    head -n 20 "$room/log"
  fi
}

# knows COMPILER LANGUAGE STANDARD: whether the compiler is here and knows it.
knows() {
  echo 'extern int x;' >"$room/x" &&
    "$1" -x "$2" -std="$3" -fsyntax-only "$room/x" 2>/dev/null
}

# compiles SOURCE COMMAND...: the compiler has nothing to say about it.
compiles() {
  local source=$1
  shift
  "$@" "${warnings[@]}" -Iinclude -c "$source" -o "$room/out.o" \
    >"$room/log" 2>&1
  verdict $? "$(basename "$source"): $*"
}

# check COMPILER LANGUAGE STANDARD: all headers and clients.
check() {
  local how=("$1" -x "$2" -std="$3") header
  knows "$@" || return
  known+=" $1"
  for header in include/*.h; do
    header=$(basename "$header")
    printf '#include "%s"\n#include "%s"\nextern int x;\n' \
      "$header" "$header" >"$room/$header.c"
    compiles "$room/$header.c" "${how[@]}"
  done
  compiles test/headers/functions.c "${how[@]}"
  compiles test/headers/client.c "${how[@]}"
  compiles test/headers/client.c "${how[@]}" -O2
}

# The checks above can fail.
check_the_check() {
  local source='int f(void); int f(void) { int unused; return 0; }'
  echo "$source" >"$room/bad.c"
  ! cc "${warnings[@]}" -c "$room/bad.c" -o "$room/out.o" 2>/dev/null
  verdict $? "a source that deserves a warning got none"
}

# A build for another platform than the one found is refused.
check_platform() {
  local code
  code=$(printf '#include "mpstd.h"\nMPS_PF_STRING\n' |
    cc -E -P -Iinclude -x c - | tr -d '"[:space:]' | tr a-z A-Z)
  echo '#include "mpstd.h"' >"$room/pf.c"
  echo 'extern int x;' >>"$room/pf.c"
  compiles "$room/pf.c" cc "-DCONFIG_PF_STRING=\"x\"" "-DCONFIG_PF_$code"
  ! cc -DCONFIG_PF_STRING='"x"' -Iinclude -fsyntax-only "$room/pf.c" \
    2>/dev/null
  verdict $? "a mistaken CONFIG_PF_STRING was accepted"
}

for compiler in gcc clang; do
  for standard in "${c_standards[@]}"; do
    check "$compiler" c "$standard"
  done
done
for compiler in g++ clang++; do
  for standard in "${cxx_standards[@]}"; do
    check "$compiler" c++ "$standard"
  done
done
check_the_check
check_platform
for library; do
  cc -Iinclude test/headers/functions.c "$library" -lpthread \
    -o "$room/all" >"$room/log" 2>&1 &&
    LD_LIBRARY_PATH=$(dirname "$library") "$room/all"
  verdict $? "functions of the interface in $library"
done

echo "compilers:$(tr ' ' '\n' <<<"$known" | sort -u | tr '\n' ' ')"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 50 ]
