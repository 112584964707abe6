import { defineConfig } from 'vitest/config'
import type { PoolRunnerInitializer } from 'vitest/node'
import { SLOW_TAG } from './scripts/lib/vitest.mjs'
import { ownNetwork } from './test/acme/own-network.ts'

/** A test that is slower than this hangs, on any machine. */
const HANG_MS = { unit: 60_000, api: 240_000, git: 300_000, acme: 300_000, engine: 600_000 }

/** What is waited for by `expect.poll` comes in no time, but on a busy machine. */
const POLL_MS = 60_000

const BUILD = './test/support/build.ts'
const STAND = './test/support/stand-setup.ts'
const SAID = './test/support/what-servers-said.ts'
const FRESH = './test/support/fresh-modules.ts'

/**
 * Suites that run side by side, on a machine of two cores; the second group starts when the first is done. Most tests of the first
 * keep a core busy; those of the second wait for containers and pages much of their time.
 */
interface Group {
  order: number
  workers: number
}
const BUSY: Group = { order: 0, workers: 3 }
const WAITING: Group = { order: 1, workers: 4 }

function suite(
  name: string,
  group: Group,
  hangMs: number,
  globalSetup: string[] = [],
  pool: 'forks' | PoolRunnerInitializer = 'forks',
) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`, ...(name === 'unit' ? ['test/*.test.ts'] : [])],
      pool,
      isolate: false,
      testTimeout: hangMs,
      hookTimeout: hangMs,
      expect: { poll: { timeout: POLL_MS } },
      globalSetup,
      setupFiles: globalSetup.includes(BUILD) ? [FRESH, SAID] : [FRESH],
      maxWorkers: group.workers,
      sequence: { groupOrder: group.order },
      tags: [{ name: SLOW_TAG, description: 'only in npm test -- --all (CONTRIBUTING.md, "Tests")' }],
    },
  }
}

export default defineConfig({
  test: {
    projects: [
      suite('unit', BUSY, HANG_MS.unit),
      suite('proxy', BUSY, HANG_MS.api),
      suite('git', BUSY, HANG_MS.git, [BUILD]),
      suite('api', BUSY, HANG_MS.api, [BUILD]),
      suite('cli', BUSY, HANG_MS.api, [BUILD]),
      suite('acme', BUSY, HANG_MS.acme, [BUILD], ownNetwork),
      suite('engine', WAITING, HANG_MS.engine, [BUILD, STAND]),
      suite('install', WAITING, HANG_MS.engine, [BUILD, STAND]),
      suite('browser', WAITING, HANG_MS.engine, [BUILD, STAND]),
    ],
  },
})
