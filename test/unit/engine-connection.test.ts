import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Connection } from '../../daemon/engine/connection.ts'

const STREAMS = 200
const CALLS = 40
/** An engine that says nothing: the wait in vain. */
const SILENCE_MS = 200
/** An engine that speaks has done so long before. */
const HANG_MS = 10_000

/** A connection to an engine that answers like this, that of a node if that has a name. */
function connectionTo(answer: RequestListener, nodeName?: () => string): Connection {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-connection-'))
  const socket = join(folder, 'engine.sock')
  const engine = createServer(answer).listen(socket)
  onTestFinished(() => {
    engine.closeAllConnections()
    engine.close()
    rmSync(folder, { recursive: true })
  })
  return new Connection(`unix://${socket}`, nodeName)
}

test.each([
  ['is there', 200, true],
  ['does not know the question', 404, true],
  ['cannot answer anybody', 500, false],
])('an engine that %s: %i', async (_, status, answers) => {
  const connection = connectionTo((_request, response) => response.writeHead(status).end('{}'))
  expect(await connection.answers(HANG_MS)).toBe(answers)
})

test('an engine that accepts a request and says nothing does not answer, nor does a missing one', async () => {
  expect(await connectionTo(() => {}).answers(SILENCE_MS)).toBe(false)
  expect(await new Connection('unix:///nowhere/engine.sock').answers(SILENCE_MS)).toBe(false)
})

test('an answer that breaks off fails its call at once', async () => {
  const connection = connectionTo((request, response) => {
    const answer = JSON.stringify({ Version: '29.0.0', ApiVersion: '1.51' })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    if (request.url!.endsWith('/version')) return response.end(answer)
    response.write(answer.slice(0, 9), () => response.destroy())
  })
  const asked = connection.dial('asking', { method: 'GET', path: '/images/json' })
  await expect(asked).rejects.toMatchObject({ code: 'runtime_error' })
})

test('a call does not cost more because of other open streams', async () => {
  const connection = connectionTo((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (request.url!.includes('/attach')) response.flushHeaders()
    else response.end(JSON.stringify({ Version: '29.0.0', ApiVersion: '1.51' }))
  })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
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

test('an answer of another machine is cut where it goes on and on, and the stream of one is not', async () => {
  const piece = 'x'.repeat(1024 * 1024)
  const connection = connectionTo(
    (request, response) => {
      if (request.url!.endsWith('/version'))
        return response.end(JSON.stringify({ Version: '29.0.0', ApiVersion: '1.51' }))
      let left = 40
      const more = (): void => void (left-- > 0 ? response.write(piece, more) : response.end())
      response.on('error', () => {})
      more()
    },
    () => 'worker-1',
  )
  await expect(connection.dial('asking', { method: 'GET', path: '/info' })).rejects.toMatchObject({
    code: 'runtime_error',
    message: expect.stringContaining('its answer is longer than 16777216 bytes'),
  })
  let bytes = 0
  for await (const chunk of await connection.stream('reading', { method: 'GET', path: '/events?' }))
    bytes += (chunk as Buffer).length
  expect(bytes).toBe(40 * piece.length)
})
