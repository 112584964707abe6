import type { Component } from 'vue'
import type { RouteLocationRaw } from 'vue-router'
import {
  Archive,
  ArchiveX,
  ArrowUpDown,
  Braces,
  CalendarX,
  CircleArrowDown,
  CircleCheck,
  CirclePause,
  CirclePlay,
  CircleSlash,
  CircleX,
  FileKey,
  Globe,
  HeartPulse,
  MemoryStick,
  Plus,
  Rocket,
  Settings2,
  ShieldCheck,
  ShieldX,
  Terminal,
  TriangleAlert,
} from '@lucide/vue'
import type { Service, ServiceEvent } from '../api/types.ts'
import { servicePath } from './address.ts'

interface Look {
  icon: Component
  /** Classes of its colour. */
  colour: string
}

const BAD = 'bg-danger-soft text-danger'
const GOOD = 'bg-success-soft text-success'
const PLAIN = 'bg-sunken text-muted'

/** How each type of event looks. */
export const EVENT_LOOK: Record<ServiceEvent['type'], Look> = {
  'service.created': { icon: Plus, colour: PLAIN },
  'deploy.started': { icon: Rocket, colour: 'bg-info-soft text-info' },
  'deploy.succeeded': { icon: Rocket, colour: GOOD },
  'deploy.failed': { icon: CircleX, colour: BAD },
  'deploy.canceled': { icon: CircleSlash, colour: PLAIN },
  'service.crashed': { icon: TriangleAlert, colour: BAD },
  'service.out_of_memory': { icon: MemoryStick, colour: BAD },
  'service.unresponsive': { icon: HeartPulse, colour: BAD },
  'service.down': { icon: CircleArrowDown, colour: BAD },
  'service.recovered': { icon: CircleCheck, colour: GOOD },
  'service.scaled': { icon: ArrowUpDown, colour: PLAIN },
  'service.suspended': { icon: CirclePause, colour: PLAIN },
  'service.resumed': { icon: CirclePlay, colour: PLAIN },
  'service.updated': { icon: Settings2, colour: PLAIN },
  'variables.updated': { icon: Braces, colour: PLAIN },
  'secret_files.updated': { icon: FileKey, colour: PLAIN },
  'job.failed': { icon: Terminal, colour: BAD },
  'job.missed': { icon: CalendarX, colour: BAD },
  'domain.verified': { icon: Globe, colour: GOOD },
  'certificate.issued': { icon: ShieldCheck, colour: GOOD },
  'certificate.failed': { icon: ShieldX, colour: BAD },
  'backup.succeeded': { icon: Archive, colour: PLAIN },
  'backup.failed': { icon: ArchiveX, colour: BAD },
}

/** Lines before and after the moment of an event are what explains it. */
const BEFORE_MS = 60_000
const AFTER_MS = 10_000

/** Events about running instances, whose log says more. */
const IN_LOG = new Set<ServiceEvent['type']>([
  'service.crashed',
  'service.out_of_memory',
  'service.unresponsive',
  'service.down',
  'service.recovered',
])

/** Where more about an event is shown; null for nowhere. */
export function eventLink(
  service: Pick<Service, 'name' | 'environment'>,
  { type, at, deploy_id, details }: ServiceEvent,
): { to: RouteLocationRaw; label: string } | null {
  if (IN_LOG.has(type)) {
    const moment = (offset: number) => new Date(Date.parse(at) + offset).toISOString()
    const query = { since: moment(-BEFORE_MS), until: moment(AFTER_MS) }
    return { to: { path: servicePath(service, 'logs'), query }, label: 'Log' }
  }
  if (deploy_id !== null) return { to: servicePath(service, `deploys/${deploy_id}`), label: 'Deploy' }
  if (details.job_id !== undefined)
    return { to: servicePath(service, `runs/${details.job_id}`), label: 'Run' }
  return null
}

/** The events that are shown: that a deploy started is of no interest once its end is there. */
export function shownEvents(events: readonly ServiceEvent[]): ServiceEvent[] {
  const ended = new Set(
    events.filter(({ type }) => type !== 'deploy.started').map(({ deploy_id }) => deploy_id),
  )
  return events.filter(({ type, deploy_id }) => type !== 'deploy.started' || !ended.has(deploy_id))
}

/**
 * The newest page of events, and behind it those that were shown before. They are dropped if so much has happened since that
 * there may be others between.
 */
export function joined(newest: readonly ServiceEvent[], known: readonly ServiceEvent[]): ServiceEvent[] {
  const ids = new Set(newest.map(({ id }) => id))
  const isNext = known.some(({ id }) => ids.has(id))
  return [...newest, ...(isNext ? known.filter(({ id }) => !ids.has(id)) : [])]
}

interface Day {
  name: string
  events: ServiceEvent[]
}

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'short' })

/** Events by the day on which they happened, in the user's own time zone; `now` is in milliseconds. */
export function byDay(events: readonly ServiceEvent[], now: number): Day[] {
  const days = Map.groupBy(events, ({ at }) => new Date(at).toDateString())
  const [today, yesterday] = [0, 1].map((ago) => {
    const day = new Date(now)
    // Not every day has 24 hours.
    day.setDate(day.getDate() - ago)
    return day.toDateString()
  })
  return Array.from(days, ([day, found]) => ({
    name: day === today ? 'Today' : day === yesterday ? 'Yesterday' : weekday.format(new Date(found[0]!.at)),
    events: found,
  }))
}
