import { randomBytes } from 'node:crypto'
import { announceService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import type { ServiceRow } from '../services/store.ts'
import { Reading, settleEnvironment } from './environment.ts'
import { readVariables, writeVariables } from './store.ts'

/** A variable that a program needs, and how its value is made; null for one that only the user knows. */
export interface WantedVariable {
  key: string
  generate: 'hex' | 'laravel' | null
  why: string
}

/** As long as those of Rails and Phoenix (`rails secret`, `mix phx.gen.secret`). */
const HEX_BYTES = 64
/** A key for AES-256, which Laravel takes as Base64 after a prefix that says so (Illuminate\\Encryption). */
const LARAVEL_BYTES = 32

/**
 * Generates the values that a service's program needs and nobody has set, as variables of the service. Existing values, its
 * own or a group's, are never read. Calls `say` with a line for each.
 */
export function adoptVariables(
  service: ServiceRow,
  wanted: readonly WantedVariable[],
  say: (line: string) => void,
): void {
  const reading = new Reading()
  const missing = wanted.filter(
    ({ key, generate }) => generate !== null && reading.written(service, key) === undefined,
  )
  if (missing.length === 0) return
  useDatabase().transaction(() => {
    const made = missing.map(({ key, generate }) => ({ key, value: valueOf(generate) }))
    writeVariables(service.id, [...readVariables(service.id), ...made])
    // This does not count as a change that waits for a deploy: the current deploy already gets these variables.
    settleEnvironment(service.id, { own: 'env', groups: 'env_groups' })
  })
  for (const { key, why } of missing)
    say(`generated ${key} and stored it as a variable of the service: ${why}`)
  announceService(service.id)
}

function valueOf(form: WantedVariable['generate']): string {
  return form === 'laravel'
    ? `base64:${randomBytes(LARAVEL_BYTES).toString('base64')}`
    : randomBytes(HEX_BYTES).toString('hex')
}
