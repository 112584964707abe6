import { setTimeout as delay } from 'node:timers/promises'
import { schedule } from '#server/options/schedule.ts'
import type { ContainerState, Engine } from '../engine/index.ts'
import { describeExit, REMOVED } from './exit.ts'
import { PortWatch, type Expected } from './port-watch.ts'
import { probe, type ProbeTarget } from './probe.ts'
import { WaitNotes } from './wait-notes.ts'

/** A deploy fails if its instances are not healthy within this time. */
export const READY_WITHIN_MS = 5 * 60_000
/** Pause between probes: short at first, since most programs are up in a moment, then longer for slow ones. */
const FIRST_PAUSE_MS = 15
const LONGEST_PAUSE_MS = 1_000
/** Each pause is a quarter longer, so readiness is noticed at most a quarter later than it happened. */
const PAUSE_GROWTH = 1.25
/** The listening ports are checked only after this time: some programs open another port first. */
const CHECK_PORTS_AFTER_MS = 1_000

/** Why new instances did not become ready; `message` is for the deploy's error. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
}

/** How to wait for a started container. */
export interface Waiting {
  /** Where it is probed; null without a port. */
  target: (() => ProbeTarget) | null
  /** Where its program should listen. */
  expected: Expected
  /** Returns what the container lost of its network and settings; null if nothing. */
  lossOf: (container: ContainerState) => string | null
  /** Called at each end of the program or its container: restarts it, or throws NotReady after too many. */
  onEnd: (exitCode: number | null, how: string) => Promise<void>
  withinMs?: number
}

/**
 * Waits until a started container is ready: its probe succeeds, or, without a port, it stays up for 3 s. Throws NotReady
 * after too many ends, if its program listens only on loopback, or after 5 minutes.
 */
export async function waitUntilReady(
  engine: Engine,
  name: string,
  waiting: Waiting,
  signal: AbortSignal,
): Promise<void> {
  const { withinMs = READY_WITHIN_MS } = waiting
  const ports = new PortWatch(engine, name, waiting.expected)
  const notes = new WaitNotes(waiting.expected.say, withinMs)
  const began = performance.now()
  let upSince = began
  let pause = FIRST_PAUSE_MS
  let reason = 'it has not been probed yet'
  while (performance.now() - began < withinMs) {
    signal.throwIfAborted()
    const state = await engine.containers.inspect(name)
    const end = endOf(state, waiting.lossOf)
    if (end !== null) {
      await waiting.onEnd(state?.exitCode ?? null, end)
      upSince = performance.now()
      pause = FIRST_PAUSE_MS
    } else {
      const upMs = performance.now() - upSince
      const seen = state?.paused ? 'its container is paused' : await check(waiting, upMs)
      if (seen === null) return
      reason = seen
      if (waiting.target !== null && upMs > CHECK_PORTS_AFTER_MS) await ports.look()
      if (ports.isFinal) throw new NotReady(ports.fault ?? reason)
      // The port watch has already logged its own hint.
      if (ports.fault === null) notes.look(reason, waiting.target?.() ?? null)
    }
    await delay(pause, undefined, { signal })
    pause = Math.min(LONGEST_PAUSE_MS, pause * PAUSE_GROWTH)
  }
  throw new NotReady(`not healthy within ${withinMs / 60_000} minutes: ${ports.fault ?? reason}`)
}

/** Returns how the program or its container ended; null while it runs as it should. */
export function endOf(state: ContainerState | null, lossOf: Waiting['lossOf']): string | null {
  if (state === null) return REMOVED
  return lossOf(state) ?? (state.running ? null : `the program ended: ${describeExit(state)}`)
}

async function check({ target }: Waiting, upMs: number): Promise<string | null> {
  if (target !== null) return probe(target())
  const { workerUpMs } = schedule
  return upMs >= workerUpMs ? null : `it has not been up for ${workerUpMs / 1_000} s yet`
}
