import { Resolver } from 'node:dns/promises'
import { useContext } from '#server/context.ts'

/** Timeout of one try at one resolver, and the number of tries. */
const TRY_MS = 2_000
const TRIES = 2

/** DNS answers that mean for certain that a name has no such record. */
const NO_RECORD_CODES = new Set(['ENOTFOUND', 'ENODATA'])

/** Returns a resolver that asks the given name servers: by default those of the options, else the host's. */
export function createResolver(servers: string[] = useContext().options.dnsResolvers): Resolver {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}

/** Returns the addresses of a name, IPv4 first. Throws an `Error` if the resolvers do not answer before `signal` aborts. */
export async function resolveAddresses(name: string, signal?: AbortSignal): Promise<string[]> {
  const resolver = createResolver()
  signal?.addEventListener('abort', () => resolver.cancel(), { once: true })
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  for (const answer of answers) {
    if (answer.status === 'fulfilled') continue
    const { code } = answer.reason as NodeJS.ErrnoException
    if (!NO_RECORD_CODES.has(code ?? '')) throw new Error(`the resolvers do not answer for ${name} (${code})`)
  }
  return []
}
