import { fileURLToPath } from 'node:url'
import { provideReaderProgram } from '#daemon/reader/reader.ts'

/** Has the process that reads sources run from the checkout, for tests of what uses it without a server. */
export function useReaderOfCheckout(): void {
  provideReaderProgram(fileURLToPath(new URL('../../daemon/source-reader.ts', import.meta.url)))
}
