import { AppError } from './errors.ts'
import { useDatabase } from './context.ts'
import type { Value } from './database/index.ts'
import { logger } from './log.ts'

const log = logger('states')

/** A status field as data: its table and, for each status, those that may follow. */
export interface Machine<S extends string> {
  table: string
  moves: Record<S, readonly S[]>
}

/** Infers the types of a machine from its keys. */
export function defineMachine<const S extends string>(machine: Machine<S>): Machine<S> {
  return machine
}

/**
 * Moves a record to another status by compare-and-set: whether the move is allowed is decided by what is in the database
 * now, not by what the caller read before. Sets `columns` too. Returns whether the record was moved.
 */
export function tryMove<S extends string>(
  machine: Machine<S>,
  id: string,
  to: S,
  columns: Record<string, Value> = {},
): boolean {
  const sources = sourcesOf(machine, to)
  const assignments = ['status = ?', ...Object.keys(columns).map((column) => `${column} = ?`)].join(', ')
  const changed = useDatabase().run(
    `UPDATE ${machine.table} SET ${assignments} WHERE id = ? AND status IN (${sources.map(() => '?').join(', ')})`,
    to,
    ...Object.values(columns),
    id,
    ...sources,
  )
  if (changed > 0) log.debug(`${id} is ${to}`, 'reason' in columns ? { reason: columns.reason } : {})
  return changed > 0
}

/** Like tryMove, but throws `conflict` when the record's status does not allow the move. */
export function move<S extends string>(
  machine: Machine<S>,
  id: string,
  to: S,
  columns: Record<string, Value> = {},
): void {
  if (!tryMove(machine, id, to, columns)) throw new AppError('conflict', `${id} cannot become ${to} now`)
}

/** The statuses from which `to` can be reached. */
function sourcesOf<S extends string>(machine: Machine<S>, to: S): S[] {
  return (Object.keys(machine.moves) as S[]).filter((from) => machine.moves[from].includes(to))
}
