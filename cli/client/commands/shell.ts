import type { Shell } from '#server/shells/schema.ts'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import type { Api } from '../api.ts'
import { withOwnFaults } from '../own-faults.ts'
import { pathTo, serviceOf, targetOf, type Target } from '../target.ts'
import { sizeOf, useTerminal } from '../terminal.ts'
import { withApi } from '../with-api.ts'
import { commandOf } from './run.ts'

/** A fresh container is created first. */
const OPEN_WITHIN_MS = 120_000

/** Opens a shell in a service, and ends with the exit code of the program. */
export function shell(call: Call): Promise<number> {
  const instance = call.text('instance')
  const isFresh = call.has('fresh')
  if (instance !== null && isFresh) throw wrong('a shell is in an instance or in a fresh container, not both')
  return inTerminal(call, 'deployer run runs a command without one', async (api) => {
    const command = commandOf(call.rest ?? [])
    return open(api, 'services', await serviceOf(call, api), {
      ...(instance === null ? {} : { instance }),
      ...(isFresh ? { fresh: true } : {}),
      ...(command === null ? {} : { command }),
    })
  })
}

/** Opens the client of a datastore, and ends with its exit code. */
export function datastoreShell(call: Call): Promise<number> {
  return inTerminal(call, 'deployer db connect works without one', (api) =>
    open(api, 'datastores', targetOf(call, api, call.words[0]!), {}),
  )
}

async function inTerminal(call: Call, advice: string, opened: (api: Api) => Promise<Shell>): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw wrong(`a shell needs a terminal; ${advice}`)
  return withOwnFaults(() => withApi(call, async (api) => useTerminal(api, await opened(api))))
}

function open(
  api: Api,
  collection: 'services' | 'datastores',
  target: Target,
  fields: Record<string, unknown>,
): Promise<Shell> {
  const body = { ...sizeOf(process.stdout), ...fields }
  const query = { environment: target.environment }
  return api.send('POST', pathTo(collection, target, '/shells'), body, { query, limitMs: OPEN_WITHIN_MS })
}
