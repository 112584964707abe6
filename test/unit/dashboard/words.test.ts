import { expect, test } from 'vitest'
import { sentence } from '../../../dashboard/src/api/plain-text.ts'
import { commitUrl } from '../../../dashboard/src/deploys/commit-url.ts'

test.each([
  ['the engine does not answer', 'The engine does not answer'],
  ['http://127.0.0.1/x.git cannot be read', 'http://127.0.0.1/x.git cannot be read'],
  ['src/main.ts is missing', 'src/main.ts is missing'],
  ['package.json is missing', 'package.json is missing'],
  ['repo_url must be an address', 'repo_url must be an address'],
  ['failed. Try again', 'Failed. Try again'],
  ['', ''],
])('%j is said as %j', (text, said) => {
  expect(sentence(text)).toBe(said)
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
