import type { Deploy, DeployStatus } from '../api/types.ts'

export interface Step {
  label: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'skipped'
  /** How long it took, or has taken so far; null when unknown. */
  milliseconds: number | null
}

/** Triggers whose deploys reuse an existing image. */
const WITHOUT_BUILD = ['restart', 'rollback'] as const

type Place = 'queue' | 'build' | 'rollout' | 'live'

/** Where a deploy in each status is, or where it ended; for a canceled one, its times show it. */
const PLACE: Record<Exclude<DeployStatus, 'canceled'>, Place> = {
  queued: 'queue',
  building: 'build',
  deploying: 'rollout',
  live: 'live',
  deactivated: 'live',
  build_failed: 'build',
  deploy_failed: 'rollout',
}

const LABELS: Record<Place, string> = {
  queue: 'Queued',
  build: 'Build',
  rollout: 'Start and health',
  live: 'Live',
}

/**
 * A deploy as its steps at the moment `now`. `rolloutAt` is when the rollout of the new instances started, if known; a
 * type without instances goes live without a rollout.
 */
export function stepsOf(
  deploy: Deploy,
  rolloutAt: string | null,
  now: number,
  hasInstances: boolean,
): Step[] {
  const builds =
    deploy.source.kind !== 'image' && !(WITHOUT_BUILD as readonly string[]).includes(deploy.trigger)
  const places: Place[] = [
    'queue',
    ...(builds ? (['build'] as const) : []),
    ...(hasInstances ? (['rollout'] as const) : []),
    'live',
  ]
  const place = placeOf(deploy, rolloutAt, builds)
  const here = places.indexOf(place === 'rollout' && !hasInstances ? 'live' : place)
  const ended = deploy.finished_at !== null
  const reachedLive = deploy.status === 'live' || deploy.status === 'deactivated'
  return places.map((place, index) => {
    const state =
      reachedLive || index < here
        ? 'done'
        : index > here
          ? ended
            ? 'skipped'
            : 'waiting'
          : ended
            ? 'failed'
            : 'running'
    return {
      label: LABELS[place],
      state,
      milliseconds: place === 'live' || index > here ? null : took(place),
    }
  })

  function took(place: Place): number | null {
    const end = deploy.finished_at ? Date.parse(deploy.finished_at) : now
    const created = Date.parse(deploy.created_at)
    const started = deploy.started_at ? Date.parse(deploy.started_at) : null
    const rollout = rolloutAt ? Date.parse(rolloutAt) : null
    if (place === 'queue') return (started ?? end) - created
    if (started === null) return null
    const last = places[here] === place
    if (place === 'build') {
      if (rollout !== null) return rollout - started
      return last || !hasInstances ? end - started : null
    }
    return !builds ? end - started : rollout === null ? null : end - rollout
  }
}

function placeOf(deploy: Deploy, rolloutAt: string | null, builds: boolean): Place {
  if (deploy.status !== 'canceled') return PLACE[deploy.status]
  if (deploy.started_at === null) return 'queue'
  return builds && rolloutAt === null ? 'build' : 'rollout'
}
