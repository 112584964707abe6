import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Connection } from '../../daemon/engine/connection.ts'

const STREAMS = 200
const CALLS = 40

test('a call costs no more for the streams that are open beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-connection-'))
  const socket = join(folder, 'engine.sock')
  const engine = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (request.url!.includes('/attach')) response.flushHeaders()
    else response.end(JSON.stringify({ Version: '29.0.0', ApiVersion: '1.51' }))
  }).listen(socket)
  const stop = new AbortController()
  onTestFinished(() => {
    stop.abort()
    engine.closeAllConnections()
    engine.close()
    rmSync(folder, { recursive: true })
  })
  const connection = new Connection(`unix://${socket}`)
  for (let stream = 0; stream < STREAMS; stream++) {
    const body = await connection.stream('attaching', {
      method: 'POST',
      path: '/containers/x/attach?',
      signal: stop.signal,
    })
    body.on('error', () => {})
  }
  // Each took a second once, which is a hang.
  for (let call = 0; call < CALLS; call++)
    expect(await connection.dial('asking', { method: 'GET', path: '/info' })).toMatchObject({
      ApiVersion: '1.51',
    })
})
