import { randomBytes } from 'node:crypto'
import { tellService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import type { ServiceRow } from '../services/store.ts'
import { Reading, settleEnvironment } from './environment.ts'
import { readVariables, writeVariables } from './store.ts'

/** A variable that a program wants, and in which form its value is made; null is one that only its user knows. */
export interface WantedVariable {
  key: string
  generate: 'hex' | 'laravel' | null
  why: string
}

/** As many as Rails and Phoenix ask for (`rails secret`, `mix phx.gen.secret`). */
const HEX_BYTES = 64
/** The key of AES-256, which Laravel takes in Base64 behind a word that says so (Illuminate\\Encryption). */
const LARAVEL_BYTES = 32

/**
 * Makes the values that a service's program wants and nobody gave: they become variables of the service. What one that
 * is there holds, its own or a group's, is never looked at. `say` gets a line for each.
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
    // Not a change that waits for a deploy: this one has them.
    settleEnvironment(service.id, { own: 'env', groups: 'env_groups' })
  })
  for (const { key, why } of missing) say(`${key} is made and kept as a variable of the service: ${why}`)
  tellService(service.id)
}

function valueOf(form: WantedVariable['generate']): string {
  return form === 'laravel'
    ? `base64:${randomBytes(LARAVEL_BYTES).toString('base64')}`
    : randomBytes(HEX_BYTES).toString('hex')
}
