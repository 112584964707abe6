import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { removeRules } from '#daemon/packet-filter/index.ts'
import { openDoor, type EngineDoor } from '../test/engine/engine-door.ts'
import { sweepEngine } from '../test/stand/engine.ts'
import { isAlive } from '../test/support/processes.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import { waitFor } from '../test/support/wait.ts'
import { openSmallDisk, type SmallDisk } from './small-disk.ts'
import { Finding } from './finding.ts'

const CLOCK_PROGRAM = new URL('../test/acme/settable-clock.mjs', import.meta.url)
const ACCOUNT = { email: 'chaos@example.com', password: 'correct horse battery staple' }
/** Less than this is free when the disk is full, so builds also wait then. */
const DISK_FLOOR = '1MiB'

/** A server on which everything that can be taken from it can be taken. */
export interface Rig {
  readonly server: TestServer
  readonly serverId: string
  readonly dataDirectory: string
  /** The way to the engine. */
  readonly door: EngineDoor
  /** The file system of the data directory; null if this machine mounts none. */
  readonly disk: SmallDisk | null
  /** Whether the control plane was stopped on purpose. */
  isDown: boolean
  /** Services whose containers were touched since everything was quiet. */
  readonly disturbed: Set<string>
  /** The dashboard's session. */
  session: Record<string, string>
  /** Sets the control plane's clock this many milliseconds off. */
  setClock(aheadMs: number): void
  /** Starts the control plane again; a disk that is too full for that is emptied. Throws a Finding if it does not start. */
  startAgain(): Promise<void>
  /** Throws a Finding if the control plane has ended by itself. */
  assertRunning(): void
  /** Adds a line to the calls that are kept. */
  note(line: string): void
  /** Everything that was noted. */
  readonly notes: string[]
  /** Writes the server's log next to the calls. */
  keepLog(): void
  /** Stops everything and removes what was made in the engine. */
  close(): Promise<void>
}

/** Starts a server on the stand's engine; calls and its log are kept in `folder`. */
export async function openRig(folder: string): Promise<Rig> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'calls.log'), '')
  const place = mkdtempSync(join(tmpdir(), 'deployer-chaos-'))
  const disk = await openSmallDisk(join(place, 'disk'))
  const dataDirectory = join(place, 'disk', 'data')
  const clock = join(place, 'clock')
  const door = await openDoor()
  const server = await startServer({
    engine: true,
    dataDirectory,
    flags: ['--docker-host', door.host, '--disk-floor', DISK_FLOOR],
    env: { NODE_OPTIONS: `--import=${CLOCK_PROGRAM.href}`, SETTABLE_CLOCK: clock },
  })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  const notes: string[] = []
  const serverId = readServerId(dataDirectory)
  const rig: Rig = {
    server,
    serverId,
    dataDirectory,
    door,
    disk,
    isDown: false,
    disturbed: new Set(),
    session: await signUp(server),
    notes,
    setClock: (aheadMs) => writeFileSync(clock, String(aheadMs)),
    async startAgain() {
      await server.restart().catch(async (error: Error) => {
        if (!disk?.isFull) throw new Finding(`the control plane did not start again: ${error.message}`)
        rig.note('  the control plane does not start on the full disk: it gets room again')
        await disk.empty()
        await server.restart()
      })
      rig.isDown = false
    },
    assertRunning() {
      if (!rig.isDown && !isAlive(server.pid)) throw new Finding('the control plane ended by itself')
    },
    note(line) {
      notes.push(line)
      appendFileSync(join(folder, 'calls.log'), `${new Date().toISOString()} ${line}\n`)
    },
    keepLog: () => writeFileSync(join(folder, 'server.log'), server.logs),
    async close() {
      await door.comeBack()
      await disk?.empty()
      await server.stop()
      await sweepEngine(serverId)
      await removeRules(serverId)
      await door.close()
      await disk?.close()
      rmSync(place, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return rig
}

/** Creates the account and returns the headers of its session. */
async function signUp(server: TestServer): Promise<Record<string, string>> {
  const origin = { origin: server.url }
  const { headers, status } = await server.request(
    'POST',
    '/api/v1/auth/setup',
    { ...ACCOUNT, code: server.setupCode },
    { headers: origin },
  )
  if (status !== 200) throw new Error(`the account could not be created: ${status}`)
  return { ...origin, cookie: headers.getSetCookie()[0]!.split(';')[0]! }
}

function readServerId(dataDirectory: string): string {
  const database = new DatabaseSync(join(dataDirectory, 'deployer.db'), { readOnly: true })
  const row = database.prepare("SELECT value FROM settings WHERE key = 'server_id'").get()
  database.close()
  return (row as { value: string }).value
}
