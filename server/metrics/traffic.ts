import type { TargetReading } from './reading.ts'

/** As many as a row of a list has room for: an hour. */
const POINTS = 30
export const POINT_SECONDS = 120
const POINT_MS = POINT_SECONDS * 1_000

/** Requests by point, oldest first; null where nothing was measured. */
export interface TrafficOf {
  requests: (number | null)[]
  status_5xx: (number | null)[]
}

/** The requests of the last hour. */
export interface Traffic {
  /** The start of the first point, in milliseconds. */
  from: number
  pointSeconds: number
  of(target: string): TrafficOf
}

/**
 * The requests of each target in the last hour, in memory: a list shows those of hundreds of services at once, for which
 * reading the history takes too long. Points start at multiples of their length; each has a place of its own until the one an
 * hour later takes it.
 */
export class RecentTraffic {
  /** Which point is counted in each place, from the epoch on. */
  readonly #points = new Float64Array(POINTS).fill(-1)
  /** Of each target, the requests in each place, followed by the 5xx among them in each place. */
  readonly #counts = new Map<string, Float64Array>()

  /** The start of the oldest point up to `now`. */
  static begin(now: number): number {
    return (pointOf(now) - POINTS + 1) * POINT_MS
  }

  /** Adds what was counted at a time. A time at which there were no requests counts as measured. */
  add(at: number, targets: readonly Pick<TargetReading, 'target' | 'statuses'>[]): void {
    const place = this.#placeOf(pointOf(at))
    for (const { target, statuses } of targets) {
      const counts = this.#counts.get(target) ?? new Float64Array(2 * POINTS)
      counts[place]! += statuses.reduce((sum, count) => sum + count, 0)
      counts[POINTS + place]! += statuses[3]
      this.#counts.set(target, counts)
    }
  }

  /** The hour up to now; the last point goes on. */
  upTo(now: number): Traffic {
    const from = RecentTraffic.begin(now)
    const places = Array.from({ length: POINTS }, (_, index) => {
      const point = pointOf(from) + index
      return this.#points[point % POINTS] === point ? point % POINTS : null
    })
    const countsOf = (target: string, offset: number) => {
      const counts = this.#counts.get(target)
      return places.map((place) => (place === null ? null : (counts?.[offset + place] ?? 0)))
    }
    return {
      from,
      pointSeconds: POINT_SECONDS,
      of: (target) => ({ requests: countsOf(target, 0), status_5xx: countsOf(target, POINTS) }),
    }
  }

  /** The place of a point. What an older one has counted there is forgotten, and so are targets without any count. */
  #placeOf(point: number): number {
    const place = point % POINTS
    if (this.#points[place] === point) return place
    this.#points[place] = point
    for (const [target, counts] of this.#counts) {
      counts[place] = counts[POINTS + place] = 0
      if (counts.every((count) => count === 0)) this.#counts.delete(target)
    }
    return place
  }
}

function pointOf(at: number): number {
  return Math.floor(at / POINT_MS)
}
