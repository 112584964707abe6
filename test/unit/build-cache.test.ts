import { expect, test } from 'vitest'
import { expandedBy, isOfStep } from '#daemon/engine/cache-records.ts'

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
])('the record "%s" is of the step "%s"', (description, step) => {
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
])('the record "%s" is not of the step "%s"', (description, step) => {
  expect(isOfStep(description, step)).toBe(false)
})

test('the variables of a command get the values of arguments, and no others', () => {
  const values = { WORD: 'one $OTHER', OTHER: 'two' }
  expect(expandedBy('echo $WORD ${OTHER} $UNKNOWN ${WORD:-x} $WORDS', values)).toBe(
    'echo one $OTHER two $UNKNOWN ${WORD:-x} $WORDS',
  )
})
