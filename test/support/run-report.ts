import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { SLOW_TAG } from '../../scripts/lib/vitest.mjs'

/** What `scripts/lib/vitest.mjs` reads about a run. */
export interface RunReport {
  files: FileReport[]
  /** Errors outside of tests, such as unhandled rejections. */
  outside: number
}

export interface FileReport {
  /** Relative to the checkout. */
  path: string
  suite: string
  /** Milliseconds since the run began; for the whole file, including its import and hooks. */
  began: number
  ended: number
  passed: number
  skipped: number
  /** The full names of the tests that failed. */
  failed: string[]
  /** Whether the file failed but none of its tests: it cannot be read, or one of its hooks failed. */
  isBroken: boolean
}

/** Writes the results of a run, and how long each file took, to the file that VITEST_REPORT names. */
export default class Report implements Reporter {
  readonly #began = new Map<string, number>()
  readonly #files: FileReport[] = []
  #leavesOutSlow = false

  onInit({ config }: Vitest): void {
    this.#leavesOutSlow = config.tagsFilter?.includes(`!${SLOW_TAG}`) ?? false
  }

  onTestModuleQueued({ id }: TestModule): void {
    this.#began.set(id, performance.now())
  }

  onTestModuleEnd(module: TestModule): void {
    const tests = [...module.children.allTests()]
    const inState = (state: string) => tests.filter((test) => test.result().state === state)
    const failed = inState('failed').map(({ fullName }) => fullName)
    this.#files.push({
      path: module.relativeModuleId,
      suite: module.project.name,
      began: this.#began.get(module.id) ?? 0,
      ended: performance.now(),
      passed: inState('passed').length,
      skipped: inState('skipped').filter((test) => !this.#isLeftOut(test)).length,
      failed,
      isBroken: module.state() === 'failed' && failed.length === 0,
    })
  }

  onTestRunEnd(_modules: unknown, errors: readonly unknown[]): void {
    const path = process.env.VITEST_REPORT
    const report: RunReport = { files: this.#files, outside: errors.length }
    if (path) writeFileSync(path, JSON.stringify(report))
  }

  /** Whether a test belongs to the second tier, which this run leaves out. */
  #isLeftOut({ tags }: TestCase): boolean {
    return this.#leavesOutSlow && tags.includes(SLOW_TAG)
  }
}
