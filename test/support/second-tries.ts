import type { Reporter, TestCase } from 'vitest/node'

/** Names at the end what passed only when it was tried again, with what was wrong at first: a test or the product errs by chance. */
export default class SecondTries implements Reporter {
  readonly #tests: TestCase[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#tests.push(test)
  }

  onTestRunEnd(): void {
    if (this.#tests.length === 0) return
    console.error(`\n${this.#tests.length} passed only when tried again, and must be mended:`)
    for (const test of this.#tests) {
      console.error(`  ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const { message } of test.result().errors ?? []) console.error(`    ${message.split('\n')[0]}`)
    }
  }
}
