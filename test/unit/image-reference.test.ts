import { expect, test } from 'vitest'
import { imageFault, repositoryOf } from '#server/image-reference.ts'

const LONGEST = `registry.example.com/${'a'.repeat(255 - 'registry.example.com/'.length)}`

test('a name of 255 characters with a tag of 128 is an image, and nothing longer', () => {
  expect(imageFault(`${LONGEST}:${'1'.repeat(128)}@sha256:${'0'.repeat(64)}`)).toBeNull()
  expect(imageFault(`${LONGEST}a:1`)).toMatch(/^must be an image reference .*: its name is longer than 255/)
  expect(imageFault(`${LONGEST}:${'1'.repeat(129)}`)).toMatch(/^must be .*: its tag may have .* 128 at most$/)
})

test('what the engine would take for the id of an image is none', () => {
  expect(imageFault('a'.repeat(64))).toMatch(/: it is an id; name the image by its repository$/)
})

test.each([
  ['busybox:1', 'docker.io/library/busybox:2'],
  ['busybox', 'index.docker.io/busybox:2'],
  ['team/api:1', `docker.io/team/api@sha256:${'0'.repeat(64)}`],
])('%s and %s are of one repository', (left, right) => {
  expect(repositoryOf(left)).toBe(repositoryOf(right))
})

test.each([
  ['busybox', 'docker.io/team/busybox'],
  ['busybox', 'registry.example.com/library/busybox'],
  ['registry.example.com/api', 'registry.example.com:5000/api'],
])('%s and %s are of two repositories', (left, right) => {
  expect(repositoryOf(left)).not.toBe(repositoryOf(right))
})
