import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp, eventHandler, toNodeListener } from 'h3'
import { expect, test, vi } from 'vitest'
import handleError from '#server/http/error-handler.ts'
import { leftSignal } from '#server/http/event-stream.ts'
import { recentLog } from '#server/log.ts'
import { openContext } from '../support/context.ts'

// It needs the list of all endpoints, which only the build makes, and is about requests that no route takes.
vi.mock('#server/http/unmatched.ts', () => ({}))

const MANY = 1_000

/** The errors in the server's log about a request whose client leaves, after which `fail` throws. */
async function errorsOf(fail: (signal: AbortSignal) => void): Promise<unknown[]> {
  const { close } = await openContext()
  const before = recentLog('error', MANY).length
  const handled = Promise.withResolvers<void>()
  const handler = eventHandler(async (event) => {
    const signal = leftSignal(event)
    await once(signal, 'abort')
    fail(signal)
  })
  const onError: typeof handleError = async (error, event) => {
    await handleError(error, event)
    handled.resolve()
  }
  const server = createServer(toNodeListener(createApp({ onError }).use('/', handler)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const request = get({ port: (server.address() as AddressInfo).port }).on('error', () => {})
  await once(server, 'request')
  request.destroy()
  await handled.promise
  server.close()
  await close()
  return recentLog('error', MANY).slice(before)
}

test('what is aborted because its client has left is not a fault of the server', async () => {
  expect(await errorsOf((signal) => signal.throwIfAborted())).toEqual([])
})

test('a fault that shows only once the client has left is one', async () => {
  const fail = () => {
    throw new TypeError('broken')
  }
  expect(await errorsOf(fail)).toHaveLength(1)
})
