import { expect, test } from 'vitest'
import { firstLine, plainText, sentence } from '../../../dashboard/src/api/plain-text.ts'
import { commitUrl } from '../../../dashboard/src/deploys/commit-url.ts'

test.each([
  ['the engine does not answer', 'The engine does not answer'],
  ['http://127.0.0.1/x.git cannot be read', 'http://127.0.0.1/x.git cannot be read'],
  ['src/main.ts is missing', 'src/main.ts is missing'],
  ['package.json is missing', 'package.json is missing'],
  ['repo_url must be an address', 'repo_url must be an address'],
  ['failed. Try again', 'Failed. Try again'],
  ['dep-00112233445566778899 is live', 'dep-00112233445566778899 is live'],
  ['web is in use by service srv-1', 'web is in use by service srv-1'],
  ['pre-deploy command failed', 'Pre-deploy command failed'],
  ['', ''],
])('%j is shown as %j', (text, said) => {
  expect(sentence(text)).toBe(said)
})

test.each([
  ['fix \u202egnp.exe', 'fix gnp.exe'],
  ['\u2067if\u2069 admin', 'if admin'],
  ['a\u200f.\u200eb\u061c', 'a.b'],
  ['مرحبا 👩\u200d🚀', 'مرحبا 👩\u200d🚀'],
  ['\x1b[31mred\x1b[0m\x07', 'red'],
])('%j is read as it is written: %j', (written, read) => {
  expect(plainText(written)).toBe(read)
})

test('of a commit message the first line is shown, without what would reorder or colour it', () => {
  expect(firstLine('\x1b[31mfix \u202egnp.exe\r\n\r\nat length')).toBe('fix gnp.exe')
})

test.each([
  ['https://github.com/octo/api.git', 'https://github.com/octo/api/commit/9fce'],
  ['https://***@github.com/octo/api.git', 'https://github.com/octo/api/commit/9fce'],
  ['git@gitlab.com:team/sub/api.git', 'https://gitlab.com/team/sub/api/-/commit/9fce'],
  ['ssh://git@codeberg.org:22/team/api', 'https://codeberg.org/team/api/commit/9fce'],
  ['https://git.example.com/team/api.git', null],
  ['https://example.com/github.com/api.git', null],
])('a commit of %s is at %s', (repo_url, page) => {
  const source = { kind: 'git', repo_url, branch: null, commit: null } as const
  expect(commitUrl({ commit_sha: '9fce', source })).toBe(page)
  expect(commitUrl({ commit_sha: null, source })).toBeNull()
})
