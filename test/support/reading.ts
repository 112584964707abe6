// Run as a separate process by a test that kills it: it starts a reader that never ends by itself.
import { fileURLToPath } from 'node:url'
import { provideReaderProgram, Reader } from '#daemon/reader/reader.ts'
import { SPIN_LONG } from './misbehaving-reader.ts'

provideReaderProgram(fileURLToPath(new URL('misbehaving-reader.ts', import.meta.url)))
await new Reader().ask(SPIN_LONG, null)
