import { useContext } from '#server/context.ts'
import { Cloudflare } from './cloudflare.ts'
import { ExecProvider } from './exec.ts'
import type { TxtProvider } from './txt-provider.ts'
import { UpdateProvider } from './update.ts'

/** The provider of the options. Throws when there is none. */
export function txtProvider(): TxtProvider {
  const { dns } = useContext().options.acme
  switch (dns?.kind) {
    case 'exec':
      return new ExecProvider(dns.program)
    case 'rfc2136':
      return new UpdateProvider(dns)
    case 'cloudflare':
      return new Cloudflare(dns.token)
    default:
      throw new Error('--acme-dns names nobody who puts records into DNS')
  }
}
