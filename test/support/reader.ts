import { fileURLToPath } from 'node:url'
import { provideReaderProgram } from '#daemon/reader/reader.ts'
import { provideGitRunner } from '#daemon/sources/git-command.ts'

/** Has the processes that read sources and start git run from the checkout, for tests of what uses it without a server. */
export function useReaderOfCheckout(): void {
  provideReaderProgram(fileURLToPath(new URL('../../daemon/source-reader.ts', import.meta.url)))
  provideGitRunner(fileURLToPath(new URL('../../daemon/git-runner.ts', import.meta.url)))
}
