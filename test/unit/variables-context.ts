import { afterEach, beforeEach } from 'vitest'
import { type Context } from '#server/context.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { deployMachine } from '#server/deploys/states.ts'
import { getDeploy, insertDeploy, listDeploys } from '#server/deploys/store.ts'
import { createEnvGroup } from '#server/env-groups/operations.ts'
import { newId } from '#server/ids.ts'
import { createService, findService } from '#server/services/operations.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import type { ServiceType } from '#server/services/types.ts'
import { tryMove } from '#server/state-machine.ts'
import { resolveEnvironment } from '#server/variables/environment.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
/** The server's own state, new for each test. */
let context: Context
/** How many values were decrypted. */
let opened: number

/** Gives each test of a file an empty database with two environments. */
export function useVariables(): void {
  beforeEach(async () => {
    ;({ context, close } = await openContext())
    const { vault } = context
    opened = 0
    const open = (sealed: Uint8Array): string => {
      opened++
      return vault.open(sealed)
    }
    context.vault = { ...vault, open }
    addEnvironment('staging')
  })

  afterEach(() => close())
}

/** How many values some work decrypts. */
export function openedBy(work: () => unknown): number {
  const before = opened
  work()
  return opened - before
}

export type Values = Record<string, string>

export function listed(values: Values): { key: string; value: string }[] {
  return Object.entries(values).map(([key, value]) => ({ key, value }))
}

function addEnvironment(name: string): void {
  context.database.run(
    'INSERT INTO environments (id, name, created_at) VALUES (?, ?, ?)',
    newId('environment'),
    name,
    Date.now() + 1_000,
  )
}

export function service(
  name: string,
  env: Values = {},
  more: { type?: ServiceType; environment?: string; env_groups?: string[] } = {},
): ServiceRow {
  return createService({ name, type: 'web_service', deploy: false, env: listed(env), ...more })
}

export function group(name: string, vars: Values) {
  return createEnvGroup({ name, vars: listed(vars) })
}

export function environmentOf(name: string, environment?: string): Values {
  return Object.fromEntries(resolveEnvironment(findService(name, environment)))
}

export function references(): unknown[] {
  return context.database.all('SELECT key, kind, name, property FROM variable_references ORDER BY key, name')
}

/** Makes a service live as the end of a deploy does. */
export function live(row: ServiceRow): ServiceRow {
  const id = newId('deploy')
  const source = { kind: 'image' as const, repo_url: null, branch: null, commit: null }
  insertDeploy({ id, service_id: row.id, trigger: 'manual', source })
  tryMove(deployMachine, id, 'deploying', {})
  makeLive(getDeploy(id)!)
  return getService(row.id)!
}

export function restarts(row: ServiceRow): number {
  return listDeploys(row.id, 10).filter(({ trigger }) => trigger === 'restart').length
}
