import { z } from 'zod'
import { AppError } from '../errors.ts'
import { includes, isRestricted, MODES, type Access, type Mode } from './access.ts'
import { callersAccess } from './caller.ts'
import { wordsOf } from './words.ts'

/**
 * Which restricted tokens may call an endpoint. `service`: all, since it shows and changes only what belongs to one service,
 * or what its lookups find; `environment`: only those that hold whole environments, since it changes one.
 */
export type Within = 'service' | 'environment'

/** What an endpoint takes of its callers. */
export interface Demand {
  least: Mode
  /** Absent for what belongs to the server as a whole, which no restricted token may call. */
  within?: Within | undefined
  /** Whether the answer is written without a schema and may contain secrets. */
  hasSecrets: boolean
}

/** Refuses a caller who may not call an endpoint at all. Throws `forbidden`. */
export function assertMayCall(access: Access, { least, within, hasSecrets }: Demand): void {
  if (!includes(access.mode, least)) throw forbidden(access, NEEDS[least])
  if (isRestricted(access) && within === undefined) throw forbidden(access, 'this concerns the whole server')
  if (access.services !== null && within === 'environment')
    throw forbidden(access, 'this concerns a whole environment')
  if (hasSecrets && !access.secrets) throw forbidden(access, 'this shows secrets')
}

/** Refuses fields that need more than their endpoint does, as marked in their schema. Throws `forbidden`. */
export function assertMayGive(access: Access, schema: z.ZodType, given: unknown): void {
  if (access.mode === 'full' || !(schema instanceof z.ZodObject)) return
  for (const [name, field] of Object.entries(schema.shape)) {
    const least = z.globalRegistry.get(field)?.['x-least-access'] as Mode | undefined
    const isGiven = (given as Record<string, unknown>)[name] !== undefined
    if (least !== undefined && isGiven && !includes(access.mode, least))
      throw forbidden(access, `${name}: ${NEEDS[least]}`)
  }
}

/** Refuses to show secrets to the caller of the current request who may not see them. Throws `forbidden`. */
export function assertSeesSecrets(): void {
  const access = callersAccess()
  if (access && !access.secrets) throw forbidden(access, 'this shows secrets')
}

/** The mark for a field of a request that takes more than its endpoint. It is also in the OpenAPI document. */
export function leastAccess(least: Mode): { 'x-least-access': Mode } {
  return { 'x-least-access': least }
}

const NEEDS: Record<Mode, string> = {
  read: 'this needs a token that may read',
  deploy: 'this needs a token that may deploy',
  full: 'this needs a token that may change everything',
}

function forbidden(access: Access, reason: string): AppError {
  return new AppError('forbidden', `${reason}, and this token ${wordsOf(access)}`)
}

/** Whether a text is a mode. */
export function isMode(text: unknown): text is Mode {
  return MODES.includes(text as Mode)
}
