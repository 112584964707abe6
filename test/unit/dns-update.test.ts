import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setInterval } from 'node:timers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { UpdateProvider } from '#daemon/certificates/dns/update.ts'

vi.mock('#daemon/domains/resolve.ts', () => ({
  createResolver: () => ({ resolveSoa: () => Promise.resolve({}) }),
}))

test('a name server whose answer comes too slowly is given up', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write(Buffer.of(255, 255))
    const drip = setInterval(() => socket.write(Buffer.of(0)), 20)
    socket.once('close', () => clearInterval(drip))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const hurried = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(200))
  onTestFinished(() => hurried.mockRestore())
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new UpdateProvider({ kind: 'rfc2136', server: place, tsig: null })
  await expect(provider.present('_acme-challenge.example.com', 'value')).rejects.toThrow(/does not answer/)
})
