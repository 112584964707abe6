import { isLocalName } from '#server/domains/names.ts'
import { reachesServer } from '#server/domains/operations.ts'
import { addressRecords, isServerAddress, ownRecords } from '#server/domains/records.ts'
import type { DomainCheck } from '#server/domains/schema.ts'
import { servedDomains } from '#server/domains/store.ts'
import type { DnsRecord } from '#server/environments/schema.ts'
import { checkDomain, checkHost, strayingDashboard } from '../../domains/checks.ts'
import { createResolver } from '../../domains/resolve.ts'
import { failed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'

/** Less than a check may take, so that it can say where a name leads that does not answer. */
const LOOK_MS = 2_000

const DNS_FIX =
  'See whether this host resolves names (getent hosts example.com); --dns-resolvers names other resolvers.'

/** The answer of DNS when nothing at all has a name (RFC 1035 section 4.1.1). */
const NO_SUCH_NAME = 'ENOTFOUND'
/** The answer when a name has no records of this type. */
const NO_RECORD = 'ENODATA'

export const baseDomain: Check = {
  id: 'base_domain',
  title: 'Base domain',
  fix: DNS_FIX,
  async look({ options }, ended) {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(LOOK_MS)])
    const { baseDomain: name, dashboardHost } = options
    if (isLocalName(name))
      return skipped(
        `${name} is a local name, which needs no DNS; the internet reaches services with --base-domain`,
      )
    const dashboard =
      dashboardHost === null || isLocalName(dashboardHost) ? [] : [lookAtDashboard(dashboardHost, signal)]
    return worstOf(await Promise.all([lookAtBase(name, signal), ...dashboard]))
  },
}

/** The base domain itself need not lead here, only the names under it. */
async function lookAtBase(name: string, signal: AbortSignal): Promise<Verdict> {
  const resolver = createResolver()
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  try {
    const addresses = await resolver.resolve4(name)
    return addresses.some(isServerAddress)
      ? passed(`${name} resolves to ${addresses.join(', ')}, which is this server`)
      : passed(
          `${name} resolves to ${addresses.join(', ')}, elsewhere; only the names under it must lead here`,
        )
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === NO_RECORD) return passed(`${name} has no address; only the names under it need one`)
    return code === NO_SUCH_NAME
      ? warning(`DNS says that ${name} does not exist`, recordsFix(`*.${name}`))
      : failed(`the resolvers do not answer for ${name} (${code})`, DNS_FIX)
  }
}

async function lookAtDashboard(host: string, signal: AbortSignal): Promise<Verdict> {
  const [checks, astray] = await Promise.all([checkHost(host, signal), strayingDashboard(host, signal)])
  const fix = fixOf(host, ownRecords(host))
  if (astray !== null) return failed(`the dashboard: ${astray}`, fix)
  return reachesServer(checks)
    ? passed(`${host} leads here, for the dashboard`)
    : failed(`the dashboard: ${faultOf(checks)}`, fix)
}

export const wildcard: Check = {
  id: 'wildcard',
  title: 'Wildcard',
  fix: DNS_FIX,
  async look({ options, recordsFault }, ended) {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(LOOK_MS)])
    const others = recordsFault === null ? servedDomains() : []
    const names = [...new Set([options.baseDomain, ...others])].filter((name) => !isLocalName(name))
    if (names.length === 0) return skipped(`names under ${options.baseDomain} need no DNS`)
    return worstOf(
      await Promise.all(names.map((name) => lookUnder(name, name === options.baseDomain, signal))),
    )
  },
}

async function lookUnder(name: string, isBase: boolean, signal: AbortSignal): Promise<Verdict> {
  const checks = await checkDomain(name, signal)
  if (reachesServer(checks)) return passed(`every name under ${name} leads here`)
  const judge = isBase ? failed : warning
  return judge(`names under ${name} do not lead here: ${faultOf(checks)}`, recordsFix(`*.${name}`))
}

/** The message of the check that says most: where the name leads, unless that is right. */
function faultOf(checks: readonly DomainCheck[]): string {
  return (checks.find(({ outcome }) => outcome === 'failed') ?? checks[0]!).message
}

/** Which records a wildcard needs. */
function recordsFix(name: string): string {
  return fixOf(name, addressRecords(name, true))
}

function fixOf(name: string, records: readonly DnsRecord[]): string {
  if (records.length === 0)
    return `Create an A record for ${name} with the public address of this server, and name that with --public-ip.`
  const texts = records.map((record) => `${record.name} ${record.type} ${record.value}`)
  return `Create at the DNS provider: ${texts.join('; ')}. If that is not the public address of this server, set --public-ip.`
}
