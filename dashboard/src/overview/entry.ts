import { sentence } from '../api/plain-text.ts'
import type { OverviewEntry } from '../api/types.ts'
import { datastorePath } from '../datastores/address.ts'
import { DATASTORE_KIND } from '../datastores/kind.ts'
import { DATASTORE_STATUS } from '../datastores/status.ts'
import { DEPLOY_STATUS } from '../deploys/status.ts'
import { servicePath } from '../service/address.ts'
import { urgencyOf, type Facets } from '../service/list-filter.ts'
import { stateOf } from '../service/state.ts'
import { SERVICE_TYPE } from '../service/type.ts'
import type { Tone } from '../ui/StatusBadge.vue'

/** The path of a service or a datastore, or of one of its sections. */
export function entryPath(entry: OverviewEntry, section = ''): string {
  return entry.kind === 'service' ? servicePath(entry, section) : datastorePath(entry, section)
}

/** How the type of a service or the kind of a datastore reads. */
export function typeLabel(entry: OverviewEntry): string {
  return entry.kind === 'service' ? SERVICE_TYPE[entry.type].label : DATASTORE_KIND[entry.type].label
}

/** How the state reads. */
export function entryState(entry: OverviewEntry): { label: string; tone: Tone } {
  return entry.kind === 'service' ? stateOf(entry) : DATASTORE_STATUS[entry.state]
}

/** Whether it or its latest deploy has failed, else whether something is under way. */
export function entryTone(entry: OverviewEntry): Tone {
  const { latest_deploy: latest } = entry
  const tones = [entryState(entry).tone, latest && DEPLOY_STATUS[latest.status].tone]
  return (['danger', 'progress'] as const).find((tone) => tones.includes(tone)) ?? 'neutral'
}

/** What the overview finds and sorts an entry by. */
export function entryFacets(entry: OverviewEntry): Facets {
  const { label, tone } = entryState(entry)
  const latest = entry.latest_deploy && DEPLOY_STATUS[entry.latest_deploy.status].tone
  return {
    name: entry.name,
    state: label,
    type: { value: entry.type, label: typeLabel(entry) },
    urgency: urgencyOf(tone, latest ?? undefined),
  }
}

/** What happened last. */
export interface LastEvent {
  text: string
  isProblem: boolean
  /** When; null where a reason is shown instead. */
  at: string | null
  /** The page that says more. */
  path: string | null
}

/** What happened to an entry last: its latest deploy, the last run of a cron job, or what is wrong with it. */
export function lastEvent(entry: OverviewEntry): LastEvent {
  if (entry.kind === 'datastore') {
    return entry.error === null
      ? { text: 'Created', isProblem: false, at: entry.created_at, path: null }
      : { text: sentence(entry.error), isProblem: true, at: null, path: null }
  }
  const { latest_deploy: deploy, last_run: run, error } = entry
  if (!deploy) return { text: 'No deploys yet', isProblem: false, at: null, path: null }
  if (deploy.status !== 'live') {
    const { label, tone } = DEPLOY_STATUS[deploy.status]
    const path = entryPath(entry, `deploys/${deploy.id}`)
    if (tone === 'danger' && error !== null)
      return { text: `${label}: ${error}`, isProblem: true, at: null, path }
    return { text: label, isProblem: tone === 'danger', at: deploy.created_at, path }
  }
  if (!run) return { text: 'Deployed', isProblem: false, at: deploy.created_at, path: null }
  const path = entryPath(entry, `runs/${run.id}`)
  if (run.status === 'failed')
    return { text: `Run failed${error === null ? '' : `: ${error}`}`, isProblem: true, at: null, path }
  return { text: 'Ran', isProblem: false, at: run.finished_at, path }
}
