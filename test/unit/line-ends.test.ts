import { expect, test } from 'vitest'
import { withLinuxEnds } from '../../daemon/builds/line-ends.ts'

const text = (content: string | Buffer): Buffer => Buffer.from(content)

test.each([
  ['entrypoint.sh', '#!/bin/sh\r\nset -e\r\nexec "$@"\r\n', '#!/bin/sh\nset -e\nexec "$@"\n'],
  ['bin/rails', '#!/usr/bin/env ruby\r\nload "x"\r\n', '#!/usr/bin/env ruby\nload "x"\n'],
  ['mvnw', '#!/bin/sh\r\n\r\necho\r\n', '#!/bin/sh\n\necho\n'],
  ['x', '#! \t/bin/sh\r\necho\r\n', '#! \t/bin/sh\necho\n'],
  ['start.sh', 'node server.js\r\n', 'node server.js\n'],
  ['mixed.sh', '#!/bin/sh\r\necho a\necho b\r\n', '#!/bin/sh\necho a\necho b\n'],
])('the script %s with Windows line ends gets those of Linux', (path, content, expected) => {
  expect(withLinuxEnds(path, text(content))?.toString()).toBe(expected)
})

test("a script's text in an older encoding stays as it is", () => {
  const latin = Buffer.from('#!/bin/sh\r\necho \xe9\r\n', 'latin1')
  expect(withLinuxEnds('x', latin)).toEqual(Buffer.from('#!/bin/sh\necho \xe9\n', 'latin1'))
})

test.each<[what: string, path: string, content: string | Buffer]>([
  ['a script of Linux', 'run.sh', '#!/bin/sh\necho\n'],
  ['a script of Linux that writes such a line', 'run.sh', '#!/bin/sh\nprintf "a\r\n"\r\n'],
  ['a text of Windows', 'README.md', 'a\r\nb\r\n'],
  ['a source of Windows', 'main.py', 'import os\r\n'],
  ['a source of Rust with an attribute', 'lib.rs', '#![no_std]\r\n#![deny(warnings)]\r\n'],
  ['a script for Windows', 'run.bat', '@echo off\r\n'],
  ['a program with such bytes', 'tool', Buffer.from('#!\r\n\0')],
  ['one line without an end', 'run.sh', '#!/bin/sh'],
  ['an empty file', 'run.sh', ''],
  ['an empty first line', 'run.sh', '\n\r\n'],
])('%s is left as it is', (_what, path, content) => {
  expect(withLinuxEnds(path, text(content))).toBeNull()
})
