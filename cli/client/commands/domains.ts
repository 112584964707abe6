import type { CertificateEntry } from '#server/certificates/schema.ts'
import type { Domain, HostCheck } from '#server/domains/schema.ts'
import type { Service } from '#server/services/schema.ts'
import type { z } from 'zod'
import type { Call } from '../../call.ts'
import { EXIT, wrong } from '../../fault.ts'
import type { Output } from '../../output.ts'
import { confirm } from '../ask.ts'
import { printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { pathTo, qualifiedName, segment, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'

type Checked = z.infer<typeof HostCheck>

/** Lists the custom domains of a service with their certificates; with `--server` the domains of the server. */
export async function list(call: Call): Promise<void> {
  if (isOfServer(call, call.words[0])) return listServer(call)
  const entries = await withApi(call, async (api) => {
    const target = await serviceOf(call, api)
    const [service, all] = await Promise.all([
      api.get<Service>(pathTo('services', target), { environment: target.environment }),
      api.get<CertificateEntry[]>('/certificates'),
    ])
    return all.filter(({ host }) => service.custom_domains.includes(host))
  })
  printCertificates(
    call.out,
    entries,
    'The service has no domains of its own. deployer domains add <domain> adds one.',
  )
}

/** Lists the certificates of all hosts that are served. */
export async function certificates(call: Call): Promise<void> {
  const entries = await withApi(call, (api) => api.get<CertificateEntry[]>('/certificates'))
  printCertificates(call.out, entries, 'No host is served yet.')
}

function printCertificates(out: Output, entries: readonly CertificateEntry[], emptyNote: string): void {
  printList(out, entries, {
    columns: [
      { title: 'host', text: ({ host }) => host, isWhole: true },
      { title: 'state', text: ({ state }) => state },
      { title: 'ends', text: ({ expires_at }) => timeText(out, expires_at) },
      { title: 'why', text: ({ error }) => error ?? '' },
    ],
    name: ({ host }) => host,
    emptyNote,
  })
}

async function listServer(call: Call): Promise<void> {
  const { out } = call
  const domains = await withApi(call, (api) => api.get<Domain[]>('/domains'))
  printList(out, domains, {
    columns: [
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'status', text: ({ status }) => status },
      { title: 'default', text: ({ is_default }) => (is_default ? 'yes' : '') },
      { title: 'urls', text: ({ url_pattern }) => url_pattern },
      { title: 'checked', text: ({ checked_at }) => timeText(out, checked_at) },
      { title: 'why', text: (domain) => (domain.status === 'active' ? '' : whyOf(domain)) },
    ],
    name: ({ name }) => name,
    emptyNote: 'The server has no domain. deployer domains add <domain> --server connects one.',
  })
}

function whyOf({ checks }: Pick<Domain, 'checks'>): string {
  return checks
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ message }) => message)
    .join('; ')
}

/** Adds a domain to a service, or connects one to the server. */
export async function add(call: Call): Promise<void> {
  const { out } = call
  const [domain, word] = call.words as [string, string?]
  if (isOfServer(call, word)) {
    const added = await withApi(call, (api) => api.send<Domain>('POST', '/domains', { name: domain }))
    out.done(`${added.name} is connected; it is ${added.status}`, added)
    return noteRecords(out, added)
  }
  const { name, domains } = await withApi(call, async (api) => {
    const target = await serviceOf(call, api, word ?? null)
    const query = { environment: target.environment }
    const path = pathTo('services', target, '/domains')
    const domains = await api.send<string[]>('POST', path, { domain }, { query })
    return { name: qualifiedName(target), domains }
  })
  out.done(`${domain} is added to ${name}`, domains)
  out.note(`deployer domains verify ${domain} ${name} tells the DNS records that it needs.`)
}

/** Removes a domain, once it is confirmed. */
export async function remove(call: Call): Promise<void> {
  const [domain, word] = call.words as [string, string?]
  const answer = await withApi(call, async (api) => {
    if (isOfServer(call, word)) {
      await confirm(call, `Disconnect ${domain}? Services are no longer served under it.`)
      return api.send<null>('DELETE', pathTo('domains', { name: domain }))
    }
    const target = await serviceOf(call, api, word ?? null)
    const path = pathTo('services', target, `/domains/${segment(domain)}`)
    await confirm(call, `Remove ${domain} from ${qualifiedName(target)}? It is no longer served there.`)
    return api.send<string[]>('DELETE', path, undefined, { query: { environment: target.environment } })
  })
  call.out.done(`${domain} is removed`, answer)
}

/** Checks now whether a domain leads to the server. */
export async function verify(call: Call): Promise<number> {
  const { out } = call
  const [domain, word] = call.words as [string, string?]
  const checked = await withApi(call, async (api): Promise<Domain | Checked> => {
    if (isOfServer(call, word))
      return api.send<Domain>('POST', pathTo('domains', { name: domain }, '/verify'))
    const target = await serviceOf(call, api, word ?? null)
    const path = pathTo('services', target, `/domains/${segment(domain)}/verify`)
    return api.send<Checked>('POST', path, undefined, { query: { environment: target.environment } })
  })
  const leadsHere = 'leads_here' in checked ? checked.leads_here : checked.status === 'active'
  if (out.isJson) out.json(checked)
  else {
    out.line(`${checked.name} ${leadsHere ? 'leads to the server' : 'does not lead to the server'}`)
    for (const { kind, outcome, message } of checked.checks)
      out.line(`  ${kind} ${outcome}: ${out.cleaned(message)}`)
  }
  if (leadsHere) return 0
  noteRecords(out, checked)
  return EXIT.failed
}

function noteRecords(out: Output, { records }: Pick<Domain, 'records'>): void {
  for (const { name, type, value } of records) out.note(`DNS: ${name} ${type} ${value}`)
}

/** Whether the command is about the server's own domains. Throws Fault for one that names a service as well. */
function isOfServer(call: Call, word: string | undefined): boolean {
  if (!call.has('server')) return false
  if (word !== undefined || call.has('service')) throw wrong('name a service or --server, not both')
  return true
}
