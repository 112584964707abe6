import type { Reporter, TestCase } from 'vitest/node'

/** Names at the end what passed only when it was tried again, with what was wrong at first: a test or the product errs by chance. */
export default class SecondTries implements Reporter {
  readonly #tests: TestCase[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#tests.push(test)
  }

  onTestRunEnd(): void {
    if (this.#tests.length === 0) return
    const lines = this.#tests.flatMap((test) => [
      `  ${test.module.relativeModuleId} > ${test.fullName}`,
      ...(test.result().errors ?? []).map(({ message }) => `    ${message.split('\n')[0]}`),
    ])
    const title = `${this.#tests.length} passed only when tried again, and must be mended:`
    process.stderr.write(`\n${[title, ...lines].join('\n')}\n`)
  }
}
