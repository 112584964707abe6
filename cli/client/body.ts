import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { EXIT } from '../fault.ts'
import { LostConnection } from './transport.ts'

/** The body of an answer as it comes. Throws LostConnection when it was cut. */
export async function* bodyOf(answer: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const bytes of answer as AsyncIterable<Buffer>) yield bytes
  } catch (cause) {
    throw new LostConnection(EXIT.noConnection, `the answer was cut: ${(cause as Error).message}`, { cause })
  }
}

/** Writes to standard output, no faster than it is read. Output that is lost is reported elsewhere. */
export async function writeOut(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain').catch(() => {})
}
