import { useDatabase } from '#server/context.ts'
import { siteFolder } from '#server/deploys/folders.ts'
import type { Site } from '#proxy/protocol.ts'

/** How long a page that was loaded before a deploy still finds its content-hashed assets. */
export const ASSETS_KEPT_MS = 24 * 60 * 60_000
/** Max replaced folders of a site in which assets are still looked up. */
export const MAX_EARLIER = 50

interface Row {
  service_id: string
  id: string
  site_id: string
  live: number
  replaced_at: number | null
}

/** Returns the published folder of every static site by service id; the new one during a switch. */
export function publishedSites(switching: ReadonlyMap<string, string>): Map<string, Site> {
  const rows = useDatabase().all<Row>(
    `SELECT service_id, id, site_id, status = 'live' AS live, replaced_at FROM deploys
     WHERE site_id IS NOT NULL AND (status IN ('live', 'deploying') OR replaced_at > ?)
     ORDER BY replaced_at DESC`,
    Date.now() - ASSETS_KEPT_MS,
  )
  const sites = new Map<string, Site>()
  for (const [serviceId, deploys] of Map.groupBy(rows, ({ service_id }) => service_id)) {
    const switchingTo = switching.get(serviceId)
    const current = deploys.find(({ id, live }) => (switchingTo === undefined ? live : id === switchingTo))
    if (current)
      sites.set(serviceId, { folder: siteFolder(current.site_id), earlier: earlier(current, deploys) })
  }
  return sites
}

function earlier(current: Row, deploys: Row[]): Site['earlier'] {
  const until = new Map<string, number>()
  for (const { site_id, live, replaced_at } of deploys) {
    // For the folder that is about to be replaced, the time counts from now.
    const since = replaced_at ?? (live ? Date.now() : null)
    if (site_id !== current.site_id && since !== null && !until.has(site_id))
      until.set(site_id, since + ASSETS_KEPT_MS)
  }
  return [...until]
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, MAX_EARLIER)
    .map(([id, until]) => ({ folder: siteFolder(id), until }))
}
