import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { packContext } from '../../../daemon/builds/context.ts'
import { parseHeaders, parseRedirects } from '../../../daemon/builds/site-rules.ts'
import { Glob } from '../../../server/text/glob.ts'
import { attacksInside, attacksToTheEnd, choose, useFolder, writeTree } from './attacks.ts'

describe('a tree that was written to take long', () => {
  useFolder()

  test('with a version range of many parts names no version', async () => {
    const range = Array.from({ length: 20_000 }, (_, index) => `>${index}`).join(' ')
    const directory = await writeTree({
      'package.json': JSON.stringify({ scripts: { start: 'x' }, engines: { node: range } }),
    })
    await expect(choose(directory)).rejects.toMatchObject({
      name: 'BuildFailure',
    })
  })

  test.each([
    ['a pattern of 1 MiB', 'a*'.repeat(512 * 1024 - 10), /more than 1000 characters/],
    ['too many patterns', 'a\n'.repeat(2_000), /more than 1000 patterns/],
  ])('with %s in its .dockerignore is refused with the reason', async (_what, content, said) => {
    const directory = await writeTree({ Dockerfile: 'FROM x', '.dockerignore': content })
    await expect(choose(directory)).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringMatching(said),
    })
  })

  test('with the worst accepted patterns is packed', async () => {
    const patterns = Array.from({ length: 30 }, (_, index) => `**/${'*a'.repeat(100)}${index}`).join('\n')
    const files = Array.from({ length: 20 }, (_, index) => [
      `${'a'.repeat(200)}/${'a'.repeat(200)}${index}`,
      '',
    ])
    const directory = await writeTree({
      Dockerfile: 'FROM x',
      '.dockerignore': patterns,
      ...Object.fromEntries(files),
    })
    const output = new PassThrough()
    output.resume()
    await packContext({ root: directory, file: { kind: 'tree', path: 'Dockerfile' } }, output)
  })

  test.each([
    ['in the middle', attacksInside],
    ['at the end', attacksToTheEnd],
  ])('whose site rules have a run %s is read', (_where, attacks) => {
    for (const text of attacks(['/', '/a /', '/a\n  X:'])) {
      parseRedirects(text)
      parseHeaders(text)
    }
  })
})

describe('a pattern', () => {
  test.each([
    ['[a-c]', 'b', true],
    ['[^a-c]', 'b', false],
    ['[\\]]', ']', true],
    ['[a\\-c]', 'b', false],
    ['[-a]', '-', true],
    ['x[0-9]*.txt', 'x7yz.txt', true],
    ['**/a?c', 'x/y/abc', true],
    ['**', 'x/y', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'axb', false],
  ])('%s matches %s: %s', (pattern, text, matches) => {
    expect(new Glob(pattern).test(text)).toBe(matches)
  })

  test.each(['[', '[]', 'a\\', '[c-a]', '[a'])('%s cannot be read', (pattern) => {
    expect(() => new Glob(pattern)).toThrow(SyntaxError)
  })
})
