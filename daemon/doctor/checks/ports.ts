import { servedCertificates } from '#server/certificates/served.ts'
import { isLocalName } from '#server/domains/names.ts'
import { addressFault } from '#server/network/addresses.ts'
import { DESTINATIONS } from '#server/network/judged.ts'
import type { BoundListener, ListenerSpec } from '#proxy/protocol.ts'
import { madeUpName } from '../../domains/checks.ts'
import { probeHost, type Probe } from '../../domains/probe.ts'
import { resolveAddresses } from '../../domains/resolve.ts'
import { formatAddress, wantedListeners, type WantedListener } from '../../proxy/listeners.ts'
import { failed, listed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'
import type { Facts } from '../facts.ts'

type Protocol = ListenerSpec['protocol']

/** What is to be asked for addresses and at an address: together less than a check may take. */
const DNS_MS = 900
const PROBE_MS = 1_400
/** More addresses of one name would say nothing new. */
const MAX_ADDRESSES = 4

const START = 'Start the server: it starts the data plane.'

export const httpPort: Check = {
  id: 'http_port',
  title: 'HTTP port',
  fix: 'Look at the data plane first.',
  look: (facts, signal) => lookAt('http', facts, signal),
}

export const httpsPort: Check = {
  id: 'https_port',
  title: 'HTTPS port',
  fix: 'Look at the data plane first.',
  look: (facts, signal) => lookAt('https', facts, signal),
}

async function lookAt(protocol: Protocol, facts: Facts, signal: AbortSignal): Promise<Verdict> {
  const wanted = wantedListeners().find((listener) => listener.protocol === protocol)
  if (!wanted) return skipped('HTTPS is off (--tls off)')
  // Its workers may serve although its supervisor hangs, which is said by the check of the data plane.
  const hello = await facts.dataPlane().catch(() => undefined)
  if (hello === undefined) return skipped('the data plane does not say where it listens')
  if (!hello) return failed('no data plane runs, so nothing listens', START)
  const bound = boundTo(wanted, hello.listeners)
  if (!bound) {
    const others = listed(hello.listeners.map(formatAddress)) || 'no address'
    return failed(
      `the data plane does not listen on ${formatAddress(wanted.address)}, but on ${others}`,
      `Restart the server. If it has other flags than this command, give them here, too: ${wanted.flag}.`,
    )
  }
  const verdicts = [...standIn(wanted, bound)]
  if (facts.recordsFault !== null)
    verdicts.push(
      passed(`the data plane listens on ${formatAddress(bound)}; nobody asked it: ${facts.recordsFault}`),
    )
  else verdicts.push(...(await ask(protocol, bound, facts, signal)))
  return worstOf(verdicts)
}

/** The open listener for a wanted one; on its fallback port if the default port was taken. */
function boundTo(
  { address, fallbackPort }: WantedListener,
  bound: readonly BoundListener[],
): BoundListener | undefined {
  const ports = address.named ? [address.port] : [address.port, fallbackPort]
  const texts = ports.map((port) => formatAddress({ host: address.host, port }))
  return bound.find((each) => texts.includes(each.address))
}

function standIn({ address, flag }: WantedListener, { port }: BoundListener): Verdict[] {
  if (address.port === port || address.port === 0) return []
  return [
    warning(
      `port ${address.port} was taken or forbidden when the server started, so port ${port} is used instead`,
      `See who has it (ss -ltnp 'sport = :${address.port}'), stop that or run the server as root, then restart it; or name another address with ${flag}.`,
    ),
  ]
}

/** Asks the listener on this host, and at the addresses at which others reach it. */
async function ask(
  protocol: Protocol,
  bound: BoundListener,
  facts: Facts,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const isSecure = protocol === 'https'
  const host = isSecure ? Object.keys(servedCertificates())[0] : facts.options.baseDomain
  // Without a certificate no handshake succeeds.
  if (host === undefined)
    return [passed(`the data plane listens on ${formatAddress(bound)}; no host has a certificate yet`)]
  const own = probe(host, { address: loopbackOf(bound.host), port: bound.port, isSecure }, signal)
  const port = isSecure ? bound.port : (facts.options.publicHttpPort ?? bound.port)
  const outside = (await publicAddresses(facts, signal)).filter(
    (address) => addressFault(address, port, DESTINATIONS) === null,
  )
  const probes = outside.map((address) => probe(host, { address, port, isSecure }, signal))
  const verdicts = [judgeOwn(await own, bound)]
  for (const [index, answer] of (await Promise.all(probes)).entries())
    verdicts.push(judgeOutside(answer, outside[index]!, port))
  return verdicts
}

function probe(host: string, place: Parameters<typeof probeHost>[1], signal: AbortSignal): Promise<Probe> {
  return probeHost(host, place, AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]))
}

function judgeOwn({ outcome, message }: Probe, bound: BoundListener): Verdict {
  return outcome === 'here'
    ? passed(`the data plane answers on ${formatAddress(bound)}`)
    : failed(
        `the data plane listens on ${formatAddress(bound)}, but ${message}`,
        'Restart the data plane; proxy/proxy.log in the data directory says more.',
      )
}

function judgeOutside({ outcome, message }: Probe, address: string, port: number): Verdict {
  if (outcome === 'here') return passed(`and at ${address} port ${port}, asked from this host`)
  if (outcome === 'elsewhere')
    return failed(
      message,
      `Point the DNS records at this server, or have ${address} forward port ${port} to it.`,
    )
  return warning(
    message,
    `Open port ${port} in the firewall of this host and of its provider, then run curl http${port === 80 ? '' : 's'}://${address.includes(':') ? `[${address}]` : address}/ on another machine. Behind some routers a host cannot reach its own public address; then that is all.`,
  )
}

/** Where others reach the server: `--public-ip`, else what the names under its base domain resolve to. */
async function publicAddresses({ options }: Facts, signal: AbortSignal): Promise<string[]> {
  const { publicIps, baseDomain } = options
  if (publicIps.length > 0) return publicIps
  if (isLocalName(baseDomain)) return []
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DNS_MS)])
  // The check of the wildcard says what is wrong with it.
  const addresses = await resolveAddresses(madeUpName(baseDomain), limit).catch(() => [])
  return addresses.slice(0, MAX_ADDRESSES)
}

/** Where to reach a listener from this host. */
function loopbackOf(host: string): string {
  if (host === '::') return '::1'
  return host === '0.0.0.0' ? '127.0.0.1' : host
}
