import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, isEngineUp, startEngine, stopEngine, sweepEngine } from './engine.ts'
import { prepareImages } from './images/index.ts'
import { withLock } from './lock.ts'
import { ensurePackages } from './packages.ts'
import { engineSocket, standDirectory, standFolder } from './place.ts'
import { startRegistry, stopRegistry } from './registry.ts'

export interface Stand {
  /** The private engine, as `unix:///...`. */
  dockerHost: string
  /** The open registry, `127.0.0.1:port`; the engine's mirror for Docker Hub names. */
  registry: string
  /** Releases the stand; the engine stops with its last user unless it was started by hand. Safe to call twice. */
  stop(): Promise<void>
}

let uses = 0

/**
 * Prepares the stand if needed (packages, engine, registry, images) and starts it if it does not run. Any
 * number of processes may use it at once. Throws one line that says what is missing.
 */
export async function startStand(): Promise<Stand> {
  const lease = join(standFolder('leases'), `${process.pid}.${uses++}`)
  const registry = await withLock('stand', async () => {
    await ensurePackages()
    if (process.getuid?.() !== 0)
      throw new Error('the test stand runs an engine of its own: run the tests as root')
    const host = await startRegistry()
    await startEngine(host)
    await prepareImages(host)
    writeFileSync(lease, '')
    return host
  })
  return { dockerHost: `unix://${engineSocket()}`, registry, stop: () => giveBack(lease) }
}

/** Starts the stand and keeps it running after its users, until `stopStand`. */
export async function keepStand(): Promise<Stand> {
  const stand = await startStand()
  writeFileSync(keepFile(), '')
  await stand.stop()
  return stand
}

/** Stops the engine and the registry; their data on disk stays. */
export function stopStand(): Promise<void> {
  return withLock('stand', async () => {
    rmSync(keepFile(), { force: true })
    await stopAll()
  })
}

/** Containers would outlive their engine. */
async function stopAll(): Promise<void> {
  if (await isEngineUp()) {
    await sweepEngine()
    await stopEngine()
  }
  await stopRegistry()
}

async function giveBack(lease: string): Promise<void> {
  if (!existsSync(lease)) return
  rmSync(lease, { force: true })
  if (existsSync(keepFile()) || countLeases() > 0) return
  await withLock('stand', async () => {
    if (existsSync(keepFile()) || countLeases() > 0) return
    await stopAll()
  })
}

/** How many uses of the stand have not ended; leases of dead processes are dropped. */
export function countLeases(): number {
  const folder = standFolder('leases')
  for (const name of readdirSync(folder)) {
    if (!isAlive(Number(name.split('.')[0]))) rmSync(join(folder, name), { force: true })
  }
  return readdirSync(folder).length
}

function keepFile(): string {
  return join(standDirectory(), 'kept')
}
