import { defineConfig } from 'vitest/config'
import { BaseSequencer, type PoolRunnerInitializer, type TestSpecification } from 'vitest/node'
import { SLOW_TAG } from './scripts/lib/vitest.mjs'
import { ownNetwork } from './test/acme/own-network.ts'

/** A test that is slower than this hangs, on any machine. */
const HANG_MS = { unit: 60_000, api: 240_000, git: 300_000, acme: 300_000, engine: 600_000, nodes: 900_000 }

/** What is waited for by `expect.poll` comes in no time, but on a busy machine. */
const POLL_MS = 60_000

const BUILD = './test/support/build.ts'
const STAND = './test/support/stand-setup.ts'
const SAID = './test/support/what-servers-said.ts'
const FRESH = './test/support/fresh-modules.ts'

/**
 * Suites that run side by side, on a machine of two cores; each group starts when the one before is done. Most tests of the first
 * keep a core busy; those of the second wait for containers much of their time. Chromium cuts off what is on its way when
 * a container comes or goes, so pages that need none are opened in the first.
 */
interface Group {
  order: number
  workers: number
}
const BUSY: Group = { order: 0, workers: 3 }
const WAITING: Group = { order: 1, workers: 4 }
/** Three engines at once, with faults that are told apart by time. */
const ALONE: Group = { order: 2, workers: 1 }

interface More {
  globalSetup?: string[]
  include?: string[]
  pool?: 'forks' | PoolRunnerInitializer
}

function suite(
  name: string,
  group: Group,
  hangMs: number,
  { globalSetup = [], include = [`test/${name}/**/*.test.ts`], pool = 'forks' }: More = {},
) {
  return {
    test: {
      name,
      include,
      pool,
      isolate: false,
      testTimeout: hangMs,
      hookTimeout: hangMs,
      expect: { poll: { timeout: POLL_MS } },
      globalSetup,
      // What an engine mounts stays on a disk.
      env: group === BUSY && process.env.TEST_MEMORY ? { TMPDIR: process.env.TEST_MEMORY } : {},
      setupFiles: globalSetup.includes(BUILD) ? [FRESH, SAID] : [FRESH],
      maxWorkers: group.workers,
      sequence: { groupOrder: group.order },
      tags: [{ name: SLOW_TAG, description: 'only in npm test -- --all (CONTRIBUTING.md, "Tests")' }],
    },
  }
}

/** In the order in which they begin: those with the shortest files last, so that no worker is idle at the end of a group. */
const SUITES = [
  suite('acme', BUSY, HANG_MS.acme, { globalSetup: [BUILD], pool: ownNetwork }),
  suite('browser', BUSY, HANG_MS.engine, { globalSetup: [BUILD], include: ['test/browser/*.test.ts'] }),
  suite('api', BUSY, HANG_MS.api, { globalSetup: [BUILD] }),
  suite('git', BUSY, HANG_MS.git, { globalSetup: [BUILD] }),
  suite('cli', BUSY, HANG_MS.api, { globalSetup: [BUILD] }),
  suite('proxy', BUSY, HANG_MS.api, { pool: ownNetwork }),
  suite('unit', BUSY, HANG_MS.unit, { include: ['test/unit/**/*.test.ts', 'test/*.test.ts'] }),
  suite('install', WAITING, HANG_MS.engine, { globalSetup: [BUILD, STAND] }),
  suite('deployed', WAITING, HANG_MS.engine, {
    globalSetup: [BUILD, STAND],
    include: ['test/browser/deployed/*.test.ts'],
  }),
  suite('engine', WAITING, HANG_MS.engine, { globalSetup: [BUILD, STAND] }),
  suite('nodes', ALONE, HANG_MS.nodes, { globalSetup: [BUILD, STAND], pool: ownNetwork }),
]

/** Files that take minutes but are not among the largest, in which order a fresh clone begins files: it knows no times yet. */
const LONGEST = /\/engine\/(?:by-hand|datastore-restores|plans)\.test\.ts$/

/** Begins suites in the order of the list, and the longest files of each first. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) =>
      SUITES.findIndex(({ test }) => test.name === project.name) - (LONGEST.test(moduleId) ? 0.5 : 0)
    const sorted = await super.sort(files)
    return sorted.toSorted((left, right) => place(left) - place(right))
  }
}

export default defineConfig({
  test: {
    projects: SUITES,
    sequence: { sequencer: InOrder },
  },
})
