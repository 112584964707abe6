import { assert, pre, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { branchNameFault, commitFault, isAbbreviatedCommit, isFullCommit } from '../../server/git/refs.ts'
import {
  formatRepositoryUrl,
  parseRepositoryUrl,
  repositoryUrlFault,
  splitCredentials,
} from '../../server/git/url.ts'
import { anyAddress } from '../support/any-address.ts'

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
    'https://example.com:0/a',
    'https://example.com:x/a',
    'https://ex%00mple.com/a',
    'https://ex%2fmple.com/a',
    'https://[::1/a',
    'https://example.com/a%0ab',
    'https://example.com/a%2fb',
    'https://example.com/a/%2e%2e/b',
    'https://example.com/a/../b',
    'https://example.com/%zz',
    'https://us\u0000er@example.com/a',
    'https://example.com\\@evil.example/a',
    'ssh://%2doProxyCommand=id/a',
    'ssh://%2Du@host/a',
    'ssh://us%0aer@host/a',
    'ssh://host%20x/a',
    'ssh://ho%0ast/a',
    'git://host%0a/',
    'git://host%0a/a',
    'git://host/a%0ahost=evil',
    'git@host%0a:a',
    'git@host:../a',
    'git@host:x~a',
    'ssh://git/@[::1]/a',
    'ssh://git/%40%5b::1]/a',
    'git@host:a@[::1]:b',
    'git@host:a\u202e\u0085',
    'https://example.com/\ud800',
    `https://example.com/${'a'.repeat(3_000)}`,
  ])('may not be %j', (text) => {
    expect(repositoryUrlFault(text)).toMatch(/\S/)
    expect(parseRepositoryUrl(text)).toBeNull()
  })

  test.each([
    ['HTTP://Example.COM:80//a//b.git', 'http://example.com/a//b.git'],
    ['https://ex%61mple.com/a', 'https://example.com/a'],
    ['https://m\u00fcnchen.example/\u00e4/b%20c', 'https://xn--mnchen-3ya.example/%C3%A4/b%20c'],
    ['https://example.com/a%3Fb%23c+d', 'https://example.com/a%3Fb%23c+d'],
    ['http://0x7f.1:3000/a', 'http://127.0.0.1:3000/a'],
    ['http://[0:0::1]/a', 'http://[::1]/a'],
    ['SSH://%67it@Example.com:22/~/a', 'ssh://git@example.com/~/a'],
    ['ssh://ada@corp.example@host/a', 'ssh://ada%40corp.example@host/a'],
    ['git@Example.com:/srv/a%20b', 'git@example.com:/srv/a%20b'],
    ['git://example.com:9418/a', 'git://example.com/a'],
  ])('such as %s is given to git as %s', (text, given) => {
    expect(splitCredentials(text)).toEqual({ url: given, username: null, password: null })
  })

  test('yields its credentials', () => {
    expect(splitCredentials('https://user:p%40ss@example.com/a')).toEqual({
      url: 'https://example.com/a',
      username: 'user',
      password: 'p@ss',
    })
    expect(splitCredentials('https://a:b@c:d@example.com/a')).toEqual({
      url: 'https://example.com/a',
      username: 'a',
      password: 'b@c:d',
    })
    expect(splitCredentials('ssh://git@example.com/a')).toEqual({
      url: 'ssh://git@example.com/a',
      username: null,
      password: null,
    })
  })

  test('yields its credentials whatever they are', () => {
    const word = string({ minLength: 1, maxLength: 20 }).map((text) => `${encodeURIComponent(text)}Q9`)
    assert(
      property(word, word, (user, password) => {
        const url = `https://${user}:${password}@example.com/a`
        pre(parseRepositoryUrl(url) !== null)
        expect(splitCredentials(url)).toEqual({
          url: 'https://example.com/a',
          username: decodeURIComponent(user),
          password: decodeURIComponent(password),
        })
      }),
    )
  })

  test("is read back from git's form as the same place", () => {
    let addresses = 0
    assert(
      property(anyAddress, (text) => {
        const parsed = parseRepositoryUrl(text)
        if (parsed === null) return
        addresses += 1
        const given = formatRepositoryUrl(parsed)
        const isPart = parsed.protocol === 'ssh'
        expect(parseRepositoryUrl(given)).toEqual({
          ...parsed,
          username: isPart ? parsed.username : null,
          password: null,
        })
        expect(formatRepositoryUrl(parseRepositoryUrl(given)!)).toBe(given)
        expect(given).toMatch(/^[!-~]+$|^[^@:]+@[^:]+:/)
      }),
      { numRuns: 5_000 },
    )
    expect(addresses).toBeGreaterThan(200)
  })

  test('never has an option, a line end or a step up in any part, however it is escaped', () => {
    assert(
      property(anyAddress, (text) => {
        const parsed = parseRepositoryUrl(text)
        if (parsed === null) return
        expect(parsed.host).toMatch(/^[a-z0-9_.:][a-z0-9_.:-]*$/)
        expect(parsed.username ?? '').not.toMatch(/\p{Cc}/u)
        if (parsed.protocol === 'ssh') expect(parsed.username ?? '').not.toMatch(/^-/)
        expect(parsed.path).not.toMatch(/\p{Cc}|\\/u)
        if (parsed.scp) expect(parsed.path).not.toMatch(/^-/)
        expect(parsed.path.split('/')).not.toContain('..')
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('a branch name', () => {
  test.each(['main', 'feature/x', 'a.b', 'ä', 'x@y', 'release-1.0', 'a/b/c', '1'])('may be %j', (name) => {
    expect(branchNameFault(name)).toBeNull()
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
      expect(commitFault(text)).toBeNull()
    },
  )

  test.each(['', '-x', '--all', 'a..b', 'HEAD~1', 'x y', ':/fix'])('may not be %j', (text) => {
    expect(commitFault(text)).toMatch(/\S/)
  })

  test('is recognized by its length', () => {
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
