import { useContext } from '#server/context.ts'
import { Cloudflare } from './cloudflare.ts'
import { ExecProvider } from './exec.ts'
import { UpdateProvider } from './update.ts'

/** Puts a TXT record into DNS and takes it out again. Each is idempotent and throws `Error` that says what was refused. */
export interface TxtProvider {
  present(name: string, value: string): Promise<void>
  cleanUp(name: string, value: string): Promise<void>
}

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
