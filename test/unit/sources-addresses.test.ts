import { assert, pre, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  branchNameFault,
  commitFault,
  isAbbreviatedCommit,
  isBranchName,
  isCommitish,
  isFullCommit,
} from '../../server/git/refs.ts'
import {
  maskRepositoryUrl,
  parseRepositoryUrl,
  repositoryUrlFault,
  splitCredentials,
} from '../../server/git/url.ts'

describe('a repository address', () => {
  test.each([
    ['https://example.com/a/b.git', { protocol: 'https', host: 'example.com', port: null, path: 'a/b.git' }],
    ['http://127.0.0.1:3000/a', { protocol: 'http', host: '127.0.0.1', port: 3000 }],
    ['https://user:p%40ss@example.com/a', { username: 'user', password: 'p@ss' }],
    ['https://token@example.com/a', { username: 'token', password: null }],
    ['ssh://git@example.com:2222/a/b.git', { protocol: 'ssh', port: 2222, username: 'git', path: 'a/b.git' }],
    ['git@example.com:a/b.git', { protocol: 'ssh', host: 'example.com', path: 'a/b.git', scp: true }],
    ['git@[::1]:a/b', { protocol: 'ssh', host: '::1', scp: true }],
    ['git://example.com/a', { protocol: 'git', host: 'example.com' }],
    ['HTTPS://Example.com/A', { protocol: 'https', host: 'example.com', path: 'A' }],
  ])('may be %s', (text, parts) => {
    expect(repositoryUrlFault(text)).toBeNull()
    expect(parseRepositoryUrl(text)).toMatchObject(parts)
  })

  test.each([
    '',
    ' ',
    '-x',
    '--upload-pack=x',
    'file:///etc',
    'FILE:///etc',
    'ext::sh -c id',
    'ext::id',
    'fd::17/foo',
    '/etc/passwd',
    './a',
    '../a',
    'a/b',
    '~/a',
    'C:\\a',
    'example.com:a/b',
    '-oProxyCommand=x@host:a',
    'git@-host:a',
    'git@host:-x',
    'git@host:',
    'https://',
    'https://example.com',
    'https://example.com/',
    'https:///a',
    'https://-x/a',
    'ftp://example.com/a',
    'javascript:alert(1)',
    'git+ssh://example.com/a',
    'ssh://-oProxyCommand=x/a',
    'ssh://-u@host/a',
    'ssh://git:password@host/a',
    'git://user@host/a',
    'https://example.com/a b',
    'https://example.com/a\n',
    'https://example.com/\u0000',
    'https://example.com/a\u00a0',
    'https://us%0aer:x@example.com/a',
    'https://u:%zz@example.com/a',
    'https://example.com/a?x=1',
    'https://example.com/a#b',
    'https://example.com:99999/a',
    `https://example.com/${'a'.repeat(3_000)}`,
  ])('may not be %j', (text) => {
    expect(repositoryUrlFault(text)).toMatch(/\S/)
    expect(parseRepositoryUrl(text)).toBeNull()
  })

  test('gives up its credentials, and is shown without them', () => {
    expect(splitCredentials('https://user:p%40ss@example.com/a')).toEqual({
      url: 'https://example.com/a',
      username: 'user',
      password: 'p@ss',
    })
    expect(splitCredentials('ssh://git@example.com/a')).toEqual({
      url: 'ssh://git@example.com/a',
      username: null,
      password: null,
    })
    expect(maskRepositoryUrl('https://user:pass@example.com/a')).toBe('https://***@example.com/a')
    expect(maskRepositoryUrl('https://token@example.com/a')).toBe('https://***@example.com/a')
    expect(maskRepositoryUrl('https://a:b@c:d@example.com/a')).toBe('https://***@example.com/a')
    expect(maskRepositoryUrl('ssh://git:secret@example.com/a')).toBe('ssh://git:***@example.com/a')
    for (const plain of ['https://example.com/a@b', 'git@example.com:a', 'ssh://git@example.com/a']) {
      expect(maskRepositoryUrl(plain)).toBe(plain)
    }
  })

  test('never shows a password, whatever it is', () => {
    const word = string({ minLength: 1, maxLength: 20 }).map((text) => `${encodeURIComponent(text)}Q9`)
    assert(
      property(word, word, (user, password) => {
        const url = `https://${user}:${password}@example.com/a`
        pre(parseRepositoryUrl(url) !== null)
        expect(maskRepositoryUrl(url)).not.toContain(password)
        expect(splitCredentials(url)).toEqual({
          url: 'https://example.com/a',
          username: decodeURIComponent(user),
          password: decodeURIComponent(password),
        })
      }),
    )
  })
})

describe('a branch name', () => {
  test.each(['main', 'feature/x', 'a.b', 'ä', 'x@y', 'release-1.0', 'a/b/c', '1'])('may be %j', (name) => {
    expect(branchNameFault(name)).toBeNull()
    expect(isBranchName(name)).toBe(true)
  })

  test.each([
    '',
    '-x',
    '--upload-pack=x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a.',
    '@',
    'a@{1}',
    'HEAD',
    'a\u0000',
    'a\u007f',
    'a\n',
    'x'.repeat(256),
  ])('may not be %j', (name) => {
    expect(branchNameFault(name)).toMatch(/\S/)
  })
})

describe('a commit', () => {
  test.each(['abcd', 'ABCDEF12', 'a'.repeat(40), 'a'.repeat(64), 'v1.0', 'main', 'refs/tags/v1'])(
    'may be %j',
    (text) => {
      expect(isCommitish(text)).toBe(true)
    },
  )

  test.each(['', '-x', '--all', 'a..b', 'HEAD~1', 'x y', ':/fix'])('may not be %j', (text) => {
    expect(commitFault(text)).toMatch(/\S/)
  })

  test('is told apart by its length', () => {
    expect([isFullCommit('a'.repeat(40)), isFullCommit('a'.repeat(41)), isFullCommit('main')]).toEqual([
      true,
      false,
      false,
    ])
    expect([
      isAbbreviatedCommit('abcd'),
      isAbbreviatedCommit('abc'),
      isAbbreviatedCommit('a'.repeat(40)),
    ]).toEqual([true, false, false])
  })
})
