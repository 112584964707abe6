import { expect, test } from 'vitest'
import { imageFault, repositoryOf } from '#server/images/reference.ts'

const LONGEST = `registry.example.com/${'a'.repeat(255)}`

test('a repository of 255 characters with a tag of 128 is an image, and nothing longer', () => {
  expect(imageFault(`${LONGEST}:${'1'.repeat(128)}@sha256:${'0'.repeat(64)}`)).toBeNull()
  expect(imageFault(`${LONGEST}a:1`)).toMatch(
    /^must be an image reference .*: its repository is longer than 255/,
  )
  expect(imageFault(`${LONGEST}:${'1'.repeat(129)}`)).toMatch(/^must be .*: its tag may have .* at most 128$/)
})

test(`Docker Hub's "library/" counts in its 255 characters`, () => {
  expect(imageFault('a'.repeat(255 - 'library/'.length))).toBeNull()
  expect(imageFault('a'.repeat(256 - 'library/'.length))).toMatch(/longer than 255 characters$/)
})

test('what the engine would take for an image id is refused, except with a tag', () => {
  expect(imageFault('a'.repeat(64))).toMatch(/: it is an id; name the image by its repository$/)
  expect(imageFault(`${'a'.repeat(64)}:1`)).toBeNull()
})

test('a digest is sha256 or sha512', () => {
  expect(imageFault(`api@sha512:${'0'.repeat(128)}`)).toBeNull()
  expect(imageFault(`api@sha512:${'0'.repeat(64)}`)).toMatch(/sha256: and 64 hex digits, or sha512: and 128$/)
})

test('a registry is a host', () => {
  expect(imageFault('my_registry.example.com/api')).toMatch(
    /: its registry my_registry.example.com is not a host name$/,
  )
})

test.each([
  ['busybox:1', 'docker.io/library/busybox:2'],
  ['busybox', 'index.docker.io/busybox:2'],
  ['team/api:1', `docker.io/team/api@sha256:${'0'.repeat(64)}`],
])('%s and %s belong to one repository', (left, right) => {
  expect(repositoryOf(left)).toBe(repositoryOf(right))
})

test.each([
  ['busybox', 'docker.io/team/busybox'],
  ['busybox', 'registry-1.docker.io/library/busybox'],
  ['busybox', 'registry.example.com/library/busybox'],
  ['registry.example.com/api', 'registry.example.com:5000/api'],
])('%s and %s belong to two repositories', (left, right) => {
  expect(repositoryOf(left)).not.toBe(repositoryOf(right))
})
