import { Resolver } from 'node:dns/promises'
import { useContext } from '#server/context.ts'

/** One try of one resolver, and how many tries. */
const TRY_MS = 2_000
const TRIES = 2

/** Answers of DNS that say for certain that a name has no such record. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA'])

/** Asks the name servers that are named: by default those of the options, else the host's. */
export function createResolver(servers: string[] = useContext().options.dnsResolvers): Resolver {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}

/** The addresses of a name, IPv4 first; none when it has none. Throws `Error` when the resolvers do not say. */
export async function resolveAddresses(name: string): Promise<string[]> {
  const resolver = createResolver()
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  for (const answer of answers) {
    if (answer.status === 'fulfilled') continue
    const { code } = answer.reason as NodeJS.ErrnoException
    if (!NOTHING.has(code ?? '')) throw new Error(`the resolvers do not answer for ${name} (${code})`)
  }
  return []
}
