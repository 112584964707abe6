import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import type { Api } from '../api.ts'
import { openInBrowser } from '../browser.ts'
import { findLink } from '../link.ts'
import { pathTo, qualifiedName, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'
import { readPlace } from '../ssh-place.ts'

/** Opens a service, or the dashboard, in the browser. */
export async function open(call: Call): Promise<void> {
  const { out } = call
  await withApi(call, async (api) => {
    const isDashboard = call.has('dashboard')
    const url = isDashboard ? await dashboardUrl(call, api) : urlOf(await serviceFor(call, api))
    if (out.isJson) out.json({ url })
    else out.line(url)
    if (out.isTerminal && !out.isJson && !call.has('print') && isWeb(url)) openInBrowser(url)
    if (!isDashboard || !api.server.url.startsWith('ssh://')) return
    out.note('The dashboard is at this address until Ctrl-C.')
    // The tunnel of ssh does not keep the process.
    await new Promise(() => setInterval(() => {}, 60_000))
  })
}

async function serviceFor(call: Call, api: Api): Promise<Service> {
  const target = await serviceOf(call, api)
  return api.get<Service>(pathTo('services', target), { environment: target.environment })
}

function urlOf(service: Service): string {
  if (service.url !== null) return service.url
  throw new Fault(
    EXIT.conflict,
    `${qualifiedName(service)} has no URL, it is of type ${service.type}; --dashboard opens its page`,
  )
}

/** The address of a service's page, or of the dashboard as a whole, where this computer reaches it. */
async function dashboardUrl(call: Call, api: Api): Promise<string> {
  const isOfService = call.words[0] !== undefined || call.has('service') || findLink() !== null
  const path = isOfService ? `/services/${qualifiedName(await serviceFor(call, api))}` : '/'
  if (!api.server.url.startsWith('ssh://')) return `${api.url}${path}`
  const { forwardPort } = await import('../ssh.ts')
  const place = readPlace(api.server.url)
  return `${(await forwardPort(place, place.api, call)).url}${path}`
}

/** What a server says is an address need not be one. */
function isWeb(url: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')
}
