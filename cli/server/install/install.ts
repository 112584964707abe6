import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findProxy } from '#daemon/proxy/find.ts'
import { keepServerId, keptServerId } from '#daemon/proxy/launch.ts'
import { openDatabase } from '#server/database/index.ts'
import { prepareDataDirectory } from '#server/data-directory.ts'
import { AppError } from '#server/errors.ts'
import { exposedSecrets } from '#server/options/flags.ts'
import { readOptions, type Options } from '#server/options/index.ts'
import { serverIdOf } from '#server/server-id.ts'
import { VERSION } from '#server/version.ts'
import { readUpgrade } from '#server/upgrade/record.ts'
import { findServer, readServerFile, type RunningServer } from '../running.ts'
import { stopServer } from '../stop.ts'
import { CONTROL_UNIT, DATA_UNIT, PROGRAM_FOLDER, SETTINGS_FILE, UNIT_FOLDER } from './layout.ts'
import { installRelease, removeOldReleases, writeCommand, type Release } from './release.ts'
import { runsAs } from './running-process.ts'
import { givenSettings, keepSettings, keptSettings, type Settings } from './settings.ts'
import { requireSystemd, systemctl, unitState } from './systemd.ts'
import { controlUnit, dataUnit } from './units.ts'

/** When a server starts, it migrates its database and takes over the data plane before it is ready. */
const START_LIMIT_MS = 60_000
const POLL_EVERY_MS = 100
/** Folders of which each unit has its own (systemd.exec(5), PrivateTmp). */
const PRIVATE_FOLDERS = /^\/(tmp|var\/tmp)(\/|$)/

/**
 * `deployer install`: saves the settings, copies this program, writes the two units, and makes sure that both run, now and
 * after each boot. When it is run again, it changes what differs and restarts what must be restarted; the data plane is then
 * replaced with this version without a failed request.
 */
export async function install(argv: string[]): Promise<number> {
  requireSystemd('install')
  const before = keptSettings()
  const given = givenSettings(argv, process.env)
  const settings = Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, value]) => value !== ''),
  )
  const options = readOptions([], settings)
  if (PRIVATE_FOLDERS.test(options.dataDirectory))
    throw new AppError(
      'invalid_request',
      `--data-dir ${options.dataDirectory}: it cannot be below /tmp or /var/tmp (systemd gives each unit a private one, and it may be emptied): use another folder`,
    )
  for (const warning of exposedSecrets(argv)) say(`warning: ${warning}`)
  await stopOthers(options, readOptions([], before))
  await prepare(options.dataDirectory)
  const release = installRelease()
  const { dataDirectory, dockerHost } = options
  const facts = { release, dataDirectory, dockerHost }
  keepSettings(given)
  writeCommand(release)
  const changed = [
    writeUnit(DATA_UNIT, dataUnit(facts)) && DATA_UNIT,
    writeUnit(CONTROL_UNIT, controlUnit(facts)) && CONTROL_UNIT,
  ].filter((unit) => unit !== false)
  if (changed.length > 0) await systemctl('daemon-reload')
  const done = await start(release, settings, changed)
  await untilReady(options)
  // Until an upgrade is decided, the former release may come back.
  if (readUpgrade(options.dataDirectory) === null) removeOldReleases(release)
  report(options, [...changed.map((unit) => `wrote ${unit}`), ...done])
  return 0
}

/** Stops what runs on the data directory outside of its unit, and units that run on another data directory. */
async function stopOthers({ dataDirectory }: Options, before: Options): Promise<void> {
  const [control, data] = [await unitState(CONTROL_UNIT), await unitState(DATA_UNIT)]
  if (before.dataDirectory !== dataDirectory && (control.active || data.active)) {
    say(`the data directory was ${before.dataDirectory}: stopping what runs there`)
    await systemctl('stop', CONTROL_UNIT, DATA_UNIT)
    return stopOthers({ ...before, dataDirectory }, { ...before, dataDirectory })
  }
  const hasServer = !control.active && findServer(dataDirectory) !== null
  const proxy = data.active ? null : await findProxy(dataDirectory)
  proxy?.close()
  if (!hasServer && !proxy) return
  say('stopping the server that was started by hand')
  await stopServer(dataDirectory, { withDataPlane: proxy !== null })
}

/** Creates what the data plane needs before the first start of a server: its folders, and the id of its server. */
async function prepare(dataDirectory: string): Promise<void> {
  prepareDataDirectory(dataDirectory)
  if (keptServerId(dataDirectory) !== null) return
  const database = await openDatabase(join(dataDirectory, 'deployer.db'))
  try {
    keepServerId(dataDirectory, serverIdOf(database))
  } finally {
    await database.close()
  }
}

/** Writes a unit's file. Returns whether it has changed. */
function writeUnit(unit: string, text: string): boolean {
  const file = join(UNIT_FOLDER, unit)
  try {
    if (readFileSync(file, 'utf8') === text) return false
  } catch {
    // There is none yet.
  }
  mkdirSync(UNIT_FOLDER, { recursive: true })
  writeFileSync(file, text)
  return true
}

/** Starts what does not run, the data plane first, and restarts a control plane whose unit, program or settings changed. */
async function start(release: Release, settings: Settings, changed: string[]): Promise<string[]> {
  const done: string[] = []
  for (const unit of [DATA_UNIT, CONTROL_UNIT]) {
    const { active, enabled, pid } = await unitState(unit)
    if (!enabled) await systemctl('enable', unit)
    if (!active) {
      await systemctl('start', unit)
      done.push(`started ${unit}`)
    } else if (unit === CONTROL_UNIT && (changed.includes(unit) || !runsAs(pid, release, settings))) {
      await systemctl('restart', unit)
      done.push(`restarted ${unit}`)
    }
  }
  return done
}

/** Waits until the control plane's unit responds. Throws `io_error` if it does not. */
async function untilReady({ dataDirectory }: Options): Promise<void> {
  const until = performance.now() + START_LIMIT_MS
  while (performance.now() < until) {
    const { pid } = await unitState(CONTROL_UNIT)
    const server = readServerFile(dataDirectory)
    if (server && server.pid === pid && (await isHealthy(server))) return
    await delay(POLL_EVERY_MS)
  }
  throw new AppError(
    'io_error',
    `${CONTROL_UNIT} did not become ready: see journalctl -u ${CONTROL_UNIT} -n 30`,
  )
}

async function isHealthy({ url }: RunningServer): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

function report({ dataDirectory }: Options, done: string[]): void {
  for (const line of done) say(line)
  if (done.length === 0) say('nothing to change')
  say(`version ${VERSION} runs from ${PROGRAM_FOLDER}, now and after each boot; settings: ${SETTINGS_FILE}`)
  const code = readSetupCode(dataDirectory)
  const server = readServerFile(dataDirectory)
  if (code !== null && server) say(`set up the administrator account: ${server.url}/setup?code=${code}`)
}

function readSetupCode(dataDirectory: string): string | null {
  try {
    return readFileSync(join(dataDirectory, 'setup_code'), 'utf8').trim()
  } catch {
    return null
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
