import { KINDS, type DatastoreKind, type Place } from '#server/datastores/kinds.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { AppError } from '#server/errors.ts'
import type { Opener } from '#server/http/opener.ts'
import type { DatastoreShellInput, Shell } from '#server/shells/schema.ts'
import { openShell } from '#server/shells/shells.ts'
import type { TerminalSpec } from '../engine/index.ts'
import { DUMP_PROGRAMS } from '../datastores/dump-programs.ts'
import type { World } from '../world.ts'

/** The client of each kind, which its image has; Valkey's has its programs under Redis's names too. */
const CLIENTS: Record<DatastoreKind, (place: Place) => Pick<TerminalSpec, 'command' | 'env'>> = {
  relational: ({ database }) => ({ command: ['psql'], env: { PGDATABASE: database! } }),
  keyvalue: ({ host, port }) => ({ command: ['redis-cli', '-h', host, '-p', String(port)], env: {} }),
}

/**
 * Opens the client of a datastore in its container, signed in. Throws as `openShell` does, and `conflict` if the datastore is not
 * available, `runtime_error`.
 */
export function openDatastoreShell(
  world: World,
  row: DatastoreRow,
  { rows, cols }: DatastoreShellInput,
  opener: Opener,
): Promise<Shell> {
  return openShell(opener, async () => {
    if (row.status !== 'available')
      throw new AppError('conflict', `datastore ${row.name} is ${row.status}: try again once it is available`)
    const place = { ...internalPlace(row), host: '127.0.0.1' }
    const client = CLIENTS[row.kind](place)
    // The password is no argument: every user of the host can see those.
    const env = { TERM: 'xterm-256color', ...DUMP_PROGRAMS[row.kind].env(place), ...client.env }
    const terminal = await world.engineOf(row.node_id).programs.openTerminal(row.id, {
      command: client.command,
      env,
      rows,
      cols,
    })
    if (!terminal) throw new AppError('conflict', `the image of this ${KINDS[row.kind].label} has no /bin/sh`)
    const environment = loadEnvironment(row.environment_id).name
    return {
      program: {
        ...terminal,
        close: async () => terminal.close(),
        fault: () => {
          const found = getDatastore(row.id)
          return !found || found.status === 'deleting' ? 'the datastore was deleted' : null
        },
      },
      container: row.id,
      resource: { kind: 'datastore', id: row.id, name: row.name, environment },
    }
  })
}
