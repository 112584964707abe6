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

/** One suite; those of a later group start when the earlier ones are done, so that the real engine has the machine. */
function suite(
  name: string,
  group: number,
  hangMs: number,
  globalSetup: string[] = [],
  pool: 'forks' | PoolRunnerInitializer = 'forks',
) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`, ...(name === 'unit' ? ['test/*.test.ts'] : [])],
      pool,
      testTimeout: hangMs,
      hookTimeout: hangMs,
      expect: { poll: { timeout: POLL_MS } },
      globalSetup,
      setupFiles: globalSetup.includes(BUILD) ? [SAID] : [],
      sequence: { groupOrder: group },
      tags: [{ name: SLOW_TAG, description: 'only in npm test -- --all (CONTRIBUTING.md, "Tests")' }],
    },
  }
}

export default defineConfig({
  test: {
    // The machine that tests has two cores; suites that wait for processes gain little from more.
    maxWorkers: 2,
    projects: [
      suite('unit', 0, HANG_MS.unit),
      suite('proxy', 0, HANG_MS.api),
      suite('git', 0, HANG_MS.git, [BUILD]),
      suite('api', 1, HANG_MS.api, [BUILD]),
      suite('cli', 1, HANG_MS.api, [BUILD]),
      suite('acme', 1, HANG_MS.acme, [BUILD], ownNetwork),
      suite('engine', 2, HANG_MS.engine, [BUILD, STAND]),
      suite('install', 2, HANG_MS.engine, [BUILD, STAND]),
      suite('browser', 3, HANG_MS.engine, [BUILD, STAND]),
    ],
  },
})
