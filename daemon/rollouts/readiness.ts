import { setTimeout as delay } from 'node:timers/promises'
import type { Snapshot } from '#server/deploys/store.ts'
import { getInstance, updateInstance } from '#server/instances/store.ts'
import type { World } from '../world.ts'
import { probe } from './probe.ts'

/** Not healthy within this fails the deploy. */
const READY_WITHIN_MS = 5 * 60_000
/** As many exits fail it. */
const MAX_EXITS = 3
/** A worker that is up for this long is ready. */
const WORKER_UP_MS = 3_000
/** Between probes: short at first, since most programs are up in a moment, then easier on a slow starter. */
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1_000
/** From when on a program that listens on another port than the service's is told. */
const WRONG_PORT_AFTER_MS = 3_000

/** 128 and the number of SIGKILL, as shells and the engine tell it. */
const KILLED = 137

/** Why new instances did not become ready; `message` is for the deploy's error. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
}

/** How an instance is waited for. */
interface Waiting {
  /** The Host field of its probes. */
  hostHeader: string
  /** Starts the program again after it ended, twice; null when its first end is enough. */
  restart: (() => Promise<void>) | null
}

/**
 * Waits until a started instance is ready: its probe answers, or, without a port, it stays up for 3 s.
 * Throws NotReady after the last exit, after 5 minutes, or when it listens elsewhere.
 */
export async function waitUntilReady(
  world: World,
  instanceId: string,
  snapshot: Snapshot,
  { hostHeader, restart }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now()
  let exits = 0
  let upSince = began
  let pause = FIRST_PAUSE_MS
  let reason = 'it has not been probed yet'
  while (performance.now() - began < READY_WITHIN_MS) {
    signal.throwIfAborted()
    const state = await world.engine.containers.inspect(instanceId)
    if (!state) throw new NotReady(`the container of ${instanceId} was removed from outside`)
    if (!state.running) {
      exits++
      const how = describeExit(state)
      countRestart(instanceId, state.exitCode, how)
      if (restart === null) throw new NotReady(`the program ended: ${how}`)
      if (exits >= MAX_EXITS || state.exitCode === null)
        throw new NotReady(`the program ended ${exits} times: ${how}`)
      await restart()
      upSince = performance.now()
      pause = FIRST_PAUSE_MS
    } else {
      const seen = await check(world, instanceId, snapshot, hostHeader, upSince)
      if (seen === null) return
      reason = seen
      if (performance.now() - upSince > WRONG_PORT_AFTER_MS) await assertPort(world, instanceId, snapshot)
    }
    await delay(pause, undefined, { signal })
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2)
  }
  throw new NotReady(`not healthy within ${READY_WITHIN_MS / 60_000} minutes: ${reason}`)
}

function countRestart(instanceId: string, exitCode: number | null, reason: string): void {
  const restarts = (getInstance(instanceId)?.restarts ?? 0) + 1
  updateInstance(instanceId, { restarts, exit_code: exitCode, reason })
}

/** How a container's program ended, in words. */
export function describeExit(state: { exitCode: number | null; oomKilled: boolean }): string {
  if (state.oomKilled) return 'it ran out of memory (raise memory_limit_mb)'
  // The engine may tell of the kill before it knows the reason.
  if (state.exitCode === KILLED)
    return 'it was killed (exit code 137), most likely for memory (raise memory_limit_mb)'
  return `exit code ${state.exitCode ?? 'unknown'}`
}

async function check(
  world: World,
  instanceId: string,
  snapshot: Snapshot,
  hostHeader: string,
  upSince: number,
): Promise<string | null> {
  const instance = getInstance(instanceId)
  if (!instance) return 'the instance was removed'
  if (snapshot.port === null) {
    return performance.now() - upSince >= WORKER_UP_MS ? null : 'it has not been up for 3 s'
  }
  if (instance.upstream_host === null || instance.upstream_port === null)
    return 'its address is not known yet'
  return probe({
    host: instance.upstream_host,
    port: instance.upstream_port,
    path: snapshot.health_check_path,
    hostHeader,
    published: world.reachByAddress === false,
  })
}

/** Finds out a program that listens, but not where the service says. Throws NotReady naming the port to set. */
async function assertPort(world: World, instanceId: string, snapshot: Snapshot): Promise<void> {
  const ports = await world.engine.containers.listeningPorts(instanceId)
  if (!ports || ports.length === 0 || ports.includes(snapshot.port!)) return
  const heard = ports.length === 1 ? `port ${ports[0]}` : `ports ${ports.join(', ')}`
  throw new NotReady(
    `the program listens on ${heard}, not on port ${snapshot.port}: set port, or listen on $PORT`,
  )
}
