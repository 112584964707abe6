import { once } from 'node:events'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { startPlace, type Place } from './place.ts'

/** Renewed after two thirds of it. */
const LIFE_SECONDS = 30
const HANDSHAKES_AT_A_TIME = 4

let place: Place

// HTTP is at another port than 80, where no authority looks: the proof is in a handshake, with the old certificate in use.
beforeAll(async () => {
  place = await startPlace({
    httpPort: 8_099,
    authority: { httpPort: 1, validitySeconds: LIFE_SECONDS },
  })
})
afterAll(() => place?.stop())

/** A handshake that must be verified; returns the serial number of the certificate. */
async function handshake(ca: string): Promise<string> {
  const socket = connect({ host: place.ip, port: 443, servername: 'short.example.com', ca })
  try {
    await once(socket, 'secureConnect')
    return socket.getPeerCertificate().serialNumber
  } finally {
    socket.destroy()
  }
}

test('a short-lived certificate is renewed by TLS-ALPN-01 under load, and no handshake fails', async () => {
  await place.server.api('POST', '/services', { name: 'short' })
  const first = await place.reaches('short.example.com', 'issued')
  const ca = await place.authority.root()
  const kept = connect({ host: place.ip, port: 443, servername: 'short.example.com', ca })
  await once(kept, 'secureConnect')
  const serials = new Set<string>()
  const failures: unknown[] = []
  let handshakes = 0
  let isOver = false
  const load = Promise.all(
    Array.from({ length: HANDSHAKES_AT_A_TIME }, async () => {
      while (!isOver) {
        await handshake(ca).then(
          (serial) => serials.add(serial),
          (error: unknown) => failures.push(error),
        )
        handshakes++
      }
    }),
  )
  const renewed = await waitFor(
    async () => {
      const entry = await place.entry('short.example.com')
      return entry.state === 'issued' && entry.expires_at !== first.expires_at && entry
    },
    'the renewal',
    LIFE_SECONDS * 2_000,
  )
  await waitFor(() => serials.size > 1, 'the new certificate to be shown')
  isOver = true
  await load
  expect(failures).toEqual([])
  expect(handshakes).toBeGreaterThan(HANDSHAKES_AT_A_TIME)
  // The old one had not expired when the new one came.
  expect(Date.parse(renewed.not_before)).toBeLessThan(Date.parse(first.expires_at))
  // An earlier connection is not closed by it.
  kept.write('GET / HTTP/1.1\r\nHost: short.example.com\r\n\r\n')
  const [answer] = (await once(kept, 'data')) as [Buffer]
  expect(answer.toString('latin1')).toContain('HTTP/1.1 503')
  kept.destroy()
})
