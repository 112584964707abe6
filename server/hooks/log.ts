import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import { newId } from '../ids.ts'
import { plainLine } from '../text/plain-line.ts'
import type { Delivery } from './delivery.ts'

/** Authenticated deliveries to keep: a busy day of a team. */
const KEPT = 200
/** Refused deliveries to keep. Anybody can send as many of them as they like. */
const KEPT_REFUSED = 50
/** While there are other deliveries, at most one in five on a page is a refused one: strangers can send any number. */
const REFUSED_SHARE = 5
/** No id or name is longer. */
const MAX_CHARACTERS = 500

/** What is known about a delivery when it has been judged. */
export interface DeliveryFacts {
  event: string | null
  delivery: string | null
  repository: string | null
  ref: string | null
  commit: string | null
  verdict: Delivery['verdict']
  reason: string | null
  deploys: string[]
}

/** Refused deliveries, newest first. Only in memory: nothing unauthenticated is written to the disk. */
let refused: Delivery[] = []

/** Keeps the result of a delivery, for people to see. */
export function logDelivery(facts: DeliveryFacts): void {
  const entry: Delivery = {
    id: newId('delivery'),
    at: timestamp(Date.now()),
    event: plain(facts.event),
    delivery: plain(facts.delivery),
    repository: plain(facts.repository),
    ref: plain(facts.ref),
    commit: plain(facts.commit),
    verdict: facts.verdict,
    reason: plain(facts.reason),
    deploys: facts.deploys,
  }
  if (entry.verdict === 'refused') refused = [entry, ...refused].slice(0, KEPT_REFUSED)
  else write(entry)
}

/** The newest deliveries, newest first; those with one verdict, or all. */
export function listDeliveries(limit: number, verdict?: Delivery['verdict']): Delivery[] {
  if (verdict === 'refused') return refused.slice(0, limit)
  const proved = useDatabase()
    .all<Row>(
      'SELECT * FROM git_deliveries WHERE ?1 IS NULL OR verdict = ?1 ORDER BY sequence DESC LIMIT ?2',
      verdict ?? null,
      Math.min(limit, KEPT),
    )
    .map(read)
  if (verdict !== undefined) return proved
  const share = Math.max(Math.ceil(limit / REFUSED_SHARE), limit - proved.length)
  return [...proved, ...refused.slice(0, share)]
    .sort((left, right) => Date.parse(right.at) - Date.parse(left.at))
    .slice(0, limit)
}

interface Row extends Omit<Delivery, 'at' | 'commit' | 'deploys'> {
  at: number
  commit_sha: string | null
  deploys: string
}

function write(entry: Delivery): void {
  const database = useDatabase()
  database.transaction(() => {
    database.run(
      `INSERT INTO git_deliveries (id, at, event, delivery, repository, ref, commit_sha, verdict, reason, deploys)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      entry.id,
      Date.parse(entry.at),
      entry.event,
      entry.delivery,
      entry.repository,
      entry.ref,
      entry.commit,
      entry.verdict,
      entry.reason,
      JSON.stringify(entry.deploys),
    )
    database.run(
      'DELETE FROM git_deliveries WHERE sequence <= (SELECT max(sequence) FROM git_deliveries) - ?',
      KEPT,
    )
  })
}

function read({ at, commit_sha, deploys, ...row }: Row): Delivery {
  return {
    id: row.id,
    at: timestamp(at),
    event: row.event,
    delivery: row.delivery,
    repository: row.repository,
    ref: row.ref,
    commit: commit_sha,
    verdict: row.verdict,
    reason: row.reason,
    deploys: JSON.parse(deploys) as string[],
  }
}

/** Makes a text from outside safe to show. */
function plain(text: string | null): string | null {
  return text === null ? null : plainLine(text, MAX_CHARACTERS)
}
