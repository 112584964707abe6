import { expect, test } from 'vitest'
import { expandedBy, isOfStep, madeBy } from '#daemon/engine/cache-records.ts'

test.each([
  ['mount / from exec /bin/sh -c npm ci', '[2/5] RUN npm ci'],
  ['mount / from exec /bin/sh -c npm ci', '[build 2/5] RUN --mount=type=secret,id=A --network=none npm ci'],
  [
    'cached mount /root/.npm from exec /bin/sh -c npm ci',
    '[2/5] RUN --mount=type=cache,target=/root/.npm npm ci',
  ],
  ['mount / from exec /bin/sh -c echo $UNSET', '[2/5] RUN echo $UNSET'],
  ['fileop target', '[3/5] COPY . .'],
  ['fileop target', '[build 3/5] WORKDIR /app'],
  ['local source for context', '[internal] load build context'],
])('the record "%s" belongs to the step "%s"', (description, step) => {
  expect(isOfStep(description, step)).toBe(true)
})

test.each([
  ['mount / from exec /bin/sh -c npm', '[2/5] RUN npm ci'],
  ['mount / from exec /bin/sh -c ', '[2/5] RUN npm ci'],
  ['mount / from exec /bin/sh -c ci', '[2/5] RUN npm ci'],
  ['mount / from exec /bin/sh -c $START', '[2/5] RUN npm ci'],
  ['cached mount /cache from exec /bin/sh -c npm $FLAGS', '[2/5] RUN npm ci'],
  ['cached mount /cache from exec /bin/sh -c npm ci', '[2/5] RUN npm ci'],
  ['cached mount /cache from exec /bin/sh -c npm ci', '[2/5] RUN --mount=type=bind,target=/cache npm ci'],
  ['cached mount /cache from exec /bin/sh -c npm ci', '[2/5] RUN --mount=type=cache,target=/other npm ci'],
  ['fileop target', '[2/5] RUN npm ci'],
  ['fileop target', '[1/5] FROM busybox:1'],
  ['fileop target', '[internal] load metadata for docker.io/library/busybox:1'],
  ['fileop target', 'copy /context /'],
])('the record "%s" does not belong to the step "%s"', (description, step) => {
  expect(isOfStep(description, step)).toBe(false)
})

test('the variables of a command get the values of arguments, and no others', () => {
  const values = { WORD: 'one $OTHER', OTHER: 'two' }
  expect(expandedBy('echo $WORD ${OTHER} $UNKNOWN ${WORD:-x} $WORDS', values)).toBe(
    'echo one $OTHER two $UNKNOWN ${WORD:-x} $WORDS',
  )
})

test('of a step without a known end, the cache mounts that were created as it began are taken', () => {
  const step = {
    name: '[2/3] RUN --mount=type=cache,target=/root/.npm npm ci',
    buildArgs: {},
    hasFailed: false,
  }
  const began = Date.parse('2026-01-02T03:04:05Z')
  const record = (ID: string, Description: string, afterMs: number) => ({
    ...{ ID, Description, InUse: false, Shared: false, Size: 1 },
    CreatedAt: new Date(began + afterMs).toISOString(),
  })
  const records = [
    record('mount', 'cached mount /root/.npm from exec /bin/sh -c npm ci', 20),
    record('later', 'cached mount /root/.npm from exec /bin/sh -c npm ci', 60_000),
    record('result', 'mount / from exec /bin/sh -c npm ci', 1_000),
  ]
  const idsOf = (completedMs: number | null) =>
    madeBy({ ...step, startedMs: began, completedMs }, records).map(({ ID }) => ID)
  expect(idsOf(null)).toEqual(['mount'])
  expect(idsOf(began + 2_000)).toEqual(['mount', 'result'])
  expect(idsOf(began + 70_000)).toEqual(['result'])
})
