import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openBuildSession } from '#daemon/engine/build-session.ts'
import { Connection } from '#daemon/engine/connection.ts'

/** The first bytes of an HTTP/2 client, and its empty settings (RFC 9113 section 3.4). */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
])

/** An engine that sends at once when a session is opened. */
async function eagerEngine(): Promise<Connection> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const socketPath = join(folder, 'engine.sock')
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ Version: '28.0.0', ApiVersion: '1.48', MinAPIVersion: '1.24' })),
  )
  server.on('upgrade', (_, socket) => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'
    socket.on('error', () => {}).write(Buffer.concat([Buffer.from(head), PREFACE]))
  })
  await once(server.listen(socketPath), 'listening')
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  return new Connection(`unix://${socketPath}`)
}

test('a session that is closed in the turn in which it was opened ends nothing else', async () => {
  const connection = await eagerEngine()
  const faults: unknown[] = []
  const onFault = (error: unknown) => void faults.push(error)
  process.on('uncaughtException', onFault)
  onTestFinished(() => void process.off('uncaughtException', onFault))
  for (let round = 0; round < 5; round += 1) {
    const offer = { secrets: {}, registryAuth: () => Promise.resolve(null) }
    const session = await openBuildSession(connection, offer)
    session!.close()
    await turn()
  }
  await turn()
  expect(faults).toEqual([])
})
