import { useContext } from '#server/context.ts'
import { Cloudflare } from './cloudflare.ts'
import { ExecProvider } from './exec.ts'
import type { TxtProvider } from './txt-provider.ts'
import { UpdateProvider } from './update.ts'

/** Returns the DNS provider of the options. Throws if there is none. */
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
      throw new Error('no DNS provider is set: a wildcard certificate needs --acme-dns')
  }
}
