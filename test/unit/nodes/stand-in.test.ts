import { expect, test } from 'vitest'
import { isToBeKept } from '#agent/stand-in.ts'

const HEARD = 1_000
const THERE = { since: HEARD, wasHeard: true, isStopped: false }
const NEVER = { ...THERE, wasHeard: false }
const STOPPED = { isStopped: true }

test.each<[string, Parameters<typeof isToBeKept>, boolean]>([
  ['runs', [{ state: 'running', policy: 'no', endedAt: -1 }, THERE], true],
  ['is frozen', [{ state: 'paused', policy: 'no', endedAt: -1 }, THERE], true],
  ['was never started', [{ state: 'created', policy: 'no', endedAt: -1 }, THERE], false],
  ['is being removed', [{ state: 'removing', policy: 'no', endedAt: HEARD }, THERE], false],
  ['ended since', [{ state: 'exited', policy: 'no', endedAt: HEARD }, THERE], true],
  ['ended before', [{ state: 'exited', policy: 'no', endedAt: HEARD - 1 }, THERE], false],
  // The engine refused to give it back; the server has stopped it since.
  ['ended before, with a mark', [{ state: 'exited', policy: 'unless-stopped', endedAt: 1 }, THERE], false],
  ['was an earlier agent’s', [{ state: 'exited', policy: 'unless-stopped', endedAt: 1 }, NEVER], true],
  ['was nobody’s', [{ state: 'exited', policy: 'no', endedAt: 1 }, NEVER], false],
  [
    'is about to end',
    [
      { state: 'running', policy: 'no', endedAt: -1 },
      { ...THERE, ...STOPPED },
    ],
    false,
  ],
  [
    'was told to end',
    [
      { state: 'exited', policy: 'no', endedAt: HEARD },
      { ...THERE, ...STOPPED },
    ],
    false,
  ],
])('a container that %s', (_which, [container, seen], isKept) => {
  expect(isToBeKept(container, seen)).toBe(isKept)
})
