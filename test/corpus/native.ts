import { containing, type CorpusTree } from './tree.ts'

/** Programs of C and C++, and those that a shell script starts. */
export const NATIVE: CorpusTree[] = [
  {
    title: 'a program in C++ with CMake',
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(shop LANGUAGES CXX)\n# add_executable(old x.cpp)\nadd_executable(${PROJECT_NAME} main.cpp)\nadd_executable(shop_test test.cpp)\n',
      'main.cpp': '',
    },
    plan: { runtime: 'cpp', packageManager: 'cmake', startCommand: '/app/bin/shop', obstacle: null },
    dockerfile: [
      'apt-get install -y -qq --no-install-recommends cmake ninja-build',
      'FROM debian:bookworm-slim',
    ],
  },
  {
    title: 'a program in C with Meson',
    files: { 'meson.build': "project('shop', 'c')\nexecutable('shopd', 'main.c')\n", 'main.c': '' },
    plan: { runtime: 'cpp', packageManager: 'meson', startCommand: '/app/bin/shopd' },
  },
  {
    title: 'several programs in C++',
    files: { 'CMakeLists.txt': 'project(shop)\nadd_executable(a a.c)\nadd_executable(b b.c)\n' },
    plan: {
      runtime: 'cpp',
      obstacle: containing(
        'there are several programs (a, b): add a Procfile with a line "web:", such as bin/a',
      ),
    },
  },
  {
    title: 'a shell script that starts it',
    files: { 'start.sh': '#!/usr/bin/env bash\nexec ./server\n', server: '' },
    plan: { runtime: 'shell', startCommand: 'bash start.sh' },
  },
]
