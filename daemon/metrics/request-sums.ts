import type { Counts, TargetCounts } from '#proxy/protocol.ts'

type Targets = Counts['targets']
type Plane = Pick<Counts, 'incarnation' | 'targets'>

/** The key of the own data plane; the others have that of their node. */
const OWN = 'own'

const NOTHING: TargetCounts = {
  ...{ status_2xx: 0, status_3xx: 0, status_4xx: 0, status_5xx: 0 },
  ...{ latency_buckets: [], latency_sum_seconds: 0 },
}

/** What a sum goes on by, as JSON. */
export interface KeptSums {
  /** That of the own data plane when the sum began: nothing begins at 0 after that. */
  incarnation: string
  beganAt: number
  /** What data planes had counted that were started again since, less what others had before they were followed. */
  ended: Targets
  /** What each said last. */
  planes: Record<string, Plane>
}

/**
 * Adds up what several data planes have counted. The sum of a target never goes down, and grows by no more than its requests:
 * not when one is started again, does not answer, is found late, or ends, nor when the server is started again with what was
 * kept. Of a single data plane it is what that says.
 */
export class RequestSums {
  #sums: KeptSums | null

  constructor(kept: KeptSums | null = null) {
    this.#sums = kept
  }

  /** What is to be kept before a sum is told; null while there is one data plane alone. */
  get kept(): KeptSums | null {
    return this.#sums
  }

  /** The sum of the own data plane and of others by their node, null for what does not answer. */
  total(own: Counts, others: ReadonlyMap<string, Counts | null>, now = Date.now()): Plane {
    if (!this.#sums && others.size === 0) return own
    const isFirst = this.#sums === null
    this.#sums ??= { incarnation: own.incarnation, beganAt: now, ended: {}, planes: {} }
    const { incarnation, planes } = this.#sums
    this.#note(OWN, own, isFirst)
    for (const [node, counts] of others) if (counts) this.#note(node, counts, isFirst)
    const all = [this.#sums.ended, ...Object.values(planes).map(({ targets }) => targets)]
    return { incarnation, targets: sum(all) }
  }

  /** Forgets targets and nodes that are gone. */
  forget(isTarget: (id: string) => boolean, isNode: (id: string) => boolean): void {
    if (!this.#sums) return
    const { planes } = this.#sums
    for (const node of Object.keys(planes)) if (node !== OWN && !isNode(node)) this.#end(node)
    this.#sums.ended = Object.fromEntries(Object.entries(this.#sums.ended).filter(([id]) => isTarget(id)))
  }

  #note(key: string, { incarnation, started_at: startedAt, targets }: Counts, isFirst: boolean): void {
    const { planes, beganAt } = this.#sums!
    const known = planes[key]
    if (known?.incarnation === incarnation) {
      // What it once said is not taken back.
      const isMissing = Object.keys(known.targets).some((id) => !Object.hasOwn(targets, id))
      known.targets = isMissing ? { ...known.targets, ...targets } : targets
      return
    }
    if (known) this.#end(key)
    else if (!isFirst && Date.parse(startedAt) < beganAt)
      this.#sums!.ended = sum([this.#sums!.ended], targets)
    planes[key] = { incarnation, targets }
  }

  #end(key: string): void {
    const { ended, planes } = this.#sums!
    this.#sums!.ended = sum([ended, planes[key]!.targets])
    delete planes[key]
  }
}

/** Adds up several, and takes what is in `less` from them. */
function sum(all: readonly Targets[], less: Targets = {}): Targets {
  const total: Targets = {}
  const add = (targets: Targets, sign: 1 | -1): void => {
    for (const id of Object.keys(targets)) {
      const known = total[id]
      total[id] = known || sign < 0 ? plus(known ?? NOTHING, targets[id]!, sign) : targets[id]!
    }
  }
  for (const targets of all) add(targets, 1)
  add(less, -1)
  return total
}

function plus(left: TargetCounts, right: TargetCounts, sign: 1 | -1): TargetCounts {
  return {
    status_2xx: left.status_2xx + sign * right.status_2xx,
    status_3xx: left.status_3xx + sign * right.status_3xx,
    status_4xx: left.status_4xx + sign * right.status_4xx,
    status_5xx: left.status_5xx + sign * right.status_5xx,
    latency_buckets: right.latency_buckets.map(
      (count, index) => (left.latency_buckets[index] ?? 0) + sign * count,
    ),
    latency_sum_seconds: left.latency_sum_seconds + sign * right.latency_sum_seconds,
  }
}
