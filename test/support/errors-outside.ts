import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'

/** Writes down how many errors came outside of tests, as from a promise that nobody awaits: no other report counts them. */
export default class ErrorsOutside implements Reporter {
  onTestRunEnd(_modules: unknown, errors: readonly unknown[]): void {
    const path = process.env.VITEST_ERRORS_FILE
    if (path) writeFileSync(path, JSON.stringify(errors.length))
  }
}
