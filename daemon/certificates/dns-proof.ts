import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { createResolver } from '../domains/resolve.ts'
import { txtProvider } from './dns/provider.ts'
import type { Prover } from './order.ts'

const log = logger('certificates')

/** Records reach a zone's name servers within seconds; an authority that looks too early refuses. */
const SPREAD_MS = 2 * 60_000
const LOOK_EVERY_MS = 2_000

/** Proves control of a name by a TXT record (RFC 8555 section 8.4), the only proof for wildcards. */
export function dnsProver(): Prover {
  return {
    type: 'dns-01',
    async show(name, _token, value) {
      const provider = txtProvider()
      const record = `_acme-challenge.${name}`
      await provider.present(record, value)
      await untilVisible(record, value)
      return () =>
        provider
          .cleanUp(record, value)
          .catch((error: unknown) => log.warn(`${record} could not be removed`, { error: messageOf(error) }))
    },
  }
}

/** Waits until the resolvers see the record, or long enough that the authority's should. */
async function untilVisible(record: string, value: string): Promise<void> {
  const deadline = performance.now() + SPREAD_MS
  while (performance.now() < deadline) {
    const found = await createResolver()
      .resolveTxt(record)
      .catch(() => [])
    if (found.some((parts) => parts.join('') === value)) return
    await sleep(LOOK_EVERY_MS, undefined, { ref: false })
  }
  log.warn(`the resolvers do not see ${record} yet; asking the certificate authority anyway`)
}
