import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { openDrainTarget } from '#daemon/log-drains/targets.ts'

const read = (name: string) => readFileSync(join(import.meta.dirname, '../proxy/certificates', name))

test('a drain over TLS may have an address for a host, whose certificate is judged', async () => {
  const server = createServer({ key: read('app.key'), cert: read('app.crt') }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `tls://127.0.0.1:${(server.address() as AddressInfo).port}`
  const target = openDrainTarget('syslog', url, null)
  const origin = {} as Parameters<typeof target.send>[0]
  // Nobody has signed it; that is found out in the handshake alone.
  await expect(target.send(origin, [], AbortSignal.timeout(10_000))).rejects.toThrow(
    /self-signed certificate/,
  )
})
