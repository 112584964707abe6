import { accessSync, constants } from 'node:fs'
import { isAbsolute } from 'node:path'
import { AppError } from '../errors.ts'

/** Algorithms of RFC 8945 section 6, by their usual names. */
const TSIG_ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512', 'hmac-sha1'] as const
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number]

/** How records are added to DNS. */
export type DnsProvider =
  | { kind: 'exec'; program: string }
  | {
      kind: 'rfc2136'
      /** `host:port`; the port is 53 by default. */
      server: string
      tsig: { name: string; secret: string; algorithm: TsigAlgorithm } | null
    }
  | { kind: 'cloudflare'; token: string }

/** The variables for `--acme-dns`. */
export const DNS_PROVIDER_VARIABLES = [
  'EXEC',
  'SERVER',
  'TSIG_NAME',
  'TSIG_SECRET',
  'TSIG_ALGORITHM',
  'TOKEN',
].map((name) => `DEPLOYER_ACME_DNS_${name}`)

/** Reads `--acme-dns` and its variables. Throws `invalid_request` with the name of a missing one. */
export function readDnsProvider(kind: string | null, environment: NodeJS.ProcessEnv): DnsProvider | null {
  const variable = (name: string) => environment[`DEPLOYER_ACME_DNS_${name}`] || null
  const needed = (name: string) => variable(name) ?? refuse(`${kind} needs DEPLOYER_ACME_DNS_${name}`)
  switch (kind) {
    case null:
      return null
    case 'exec':
      return { kind, program: executable(needed('EXEC')) }
    case 'rfc2136':
      return { kind, server: serverAddress(needed('SERVER')), tsig: readTsig(variable, needed) }
    case 'cloudflare':
      return { kind, token: needed('TOKEN') }
    default:
      return refuse(`must be exec, rfc2136 or cloudflare, not "${kind}"`)
  }
}

function executable(program: string): string {
  try {
    if (!isAbsolute(program)) throw new Error('it is not an absolute path')
    accessSync(program, constants.X_OK)
    return program
  } catch {
    return refuse(`DEPLOYER_ACME_DNS_EXEC must be the absolute path of a program, not "${program}"`)
  }
}

function serverAddress(text: string): string {
  if (!/^(\[[0-9a-fA-F:]+\]|[^:\s[\]]+)(:\d{1,5})?$/.test(text))
    refuse(`DEPLOYER_ACME_DNS_SERVER must be a host, with or without a port, not "${text}"`)
  return /:\d+$/.test(text.replace(/^\[.*\]/, '')) ? text : `${text}:53`
}

function readTsig(
  variable: (name: string) => string | null,
  needed: (name: string) => string,
): Extract<DnsProvider, { kind: 'rfc2136' }>['tsig'] {
  if (variable('TSIG_NAME') === null && variable('TSIG_SECRET') === null) return null
  const algorithm = (variable('TSIG_ALGORITHM') ?? 'hmac-sha256').toLowerCase().replace(/\.$/, '')
  const known = TSIG_ALGORITHMS.find((name) => name === algorithm)
  if (!known) return refuse(`DEPLOYER_ACME_DNS_TSIG_ALGORITHM must be ${TSIG_ALGORITHMS.join(', ')}`)
  return { name: needed('TSIG_NAME'), secret: needed('TSIG_SECRET'), algorithm: known }
}

function refuse(why: string): never {
  throw new AppError('invalid_request', `--acme-dns (DEPLOYER_ACME_DNS): ${why}`)
}
