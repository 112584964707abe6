import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { docker } from '../test/engine/live.ts'
import { crashEngine } from '../test/stand/engine.ts'
import type { Draw } from './draw.ts'
import type { Rig } from './rig.ts'

const HOUR_MS = 3_600_000

/** What a fault is about; two of the same are not struck at once. */
export type FaultKind = 'control plane' | 'data plane' | 'engine' | 'containers' | 'disk' | 'clock'

/** Something that happens to the server from outside. */
export interface Fault {
  name: string
  kind: FaultKind
  weight: number
  /** How many rounds it lasts at most. */
  rounds: number
  /** Does it, and returns what ends it, or null if nothing was there to do it to. */
  strike(rig: Rig, draw: Draw): Promise<(() => Promise<void>) | null>
}

const nothing = async (): Promise<void> => {}

/** Stops the control plane with a signal, for one round. */
function stop(signal: NodeJS.Signals): Fault['strike'] {
  return async (rig) => {
    rig.isDown = true
    await rig.server.kill(signal)
    return () => rig.startAgain()
  }
}

/** Kills processes of the data plane. */
function killDataPlane(role: 'worker' | 'supervisor', isEach: boolean): Fault['strike'] {
  return async ({ dataDirectory }, draw) => {
    const pids = dataPlane(role, dataDirectory)
    if (pids.length === 0) return null
    for (const pid of isEach ? pids : [draw.pick(pids)]) process.kill(pid, 'SIGKILL')
    return nothing
  }
}

/** Has something done to a container of the server. */
function toContainer(...words: string[]): Fault['strike'] {
  return async (rig, draw) => {
    const label = `label=deployer.server=${rig.serverId}`
    // The engine itself may be away.
    const names = (await docker('ps', '--filter', label, '--format', '{{.Names}}').catch(() => ''))
      .split('\n')
      .filter(Boolean)
    if (names.length === 0) return null
    const name = draw.pick(names.toSorted())
    rig.disturbed.add(name.slice(0, 'srv-'.length + 20))
    rig.note(`  container ${name}`)
    // It may be gone in the meantime.
    await docker(...words, name).catch(nothing)
    return nothing
  }
}

/** Everything that can go wrong, with how often it is drawn. */
const FAULTS: readonly Fault[] = [
  { name: 'control plane killed', kind: 'control plane', weight: 5, rounds: 1, strike: stop('SIGKILL') },
  { name: 'control plane stopped', kind: 'control plane', weight: 1, rounds: 1, strike: stop('SIGTERM') },
  {
    name: 'control plane killed twice',
    kind: 'control plane',
    weight: 2,
    rounds: 1,
    async strike(rig, draw) {
      const again = await stop('SIGKILL')(rig, draw)
      const pause = draw.below(300)
      return async () => {
        await again!()
        await delay(pause)
        await rig.server.kill('SIGKILL')
        await rig.startAgain()
      }
    },
  },
  {
    name: 'worker killed',
    kind: 'data plane',
    weight: 3,
    rounds: 1,
    strike: killDataPlane('worker', false),
  },
  {
    name: 'all workers killed',
    kind: 'data plane',
    weight: 1,
    rounds: 1,
    strike: killDataPlane('worker', true),
  },
  {
    name: 'supervisor killed',
    kind: 'data plane',
    weight: 1,
    rounds: 1,
    strike: killDataPlane('supervisor', true),
  },
  {
    name: 'engine away',
    kind: 'engine',
    weight: 3,
    rounds: 3,
    async strike({ door }) {
      await door.goAway()
      return () => door.comeBack()
    },
  },
  {
    name: 'engine restarting',
    kind: 'engine',
    weight: 2,
    rounds: 2,
    async strike({ door }) {
      door.hold()
      return () => door.comeBack()
    },
  },
  {
    name: 'engine silent',
    kind: 'engine',
    weight: 1,
    rounds: 2,
    async strike({ door }) {
      door.fallSilent(true)
      return async () => {
        door.fallSilent(false)
        // What was swallowed is never answered: the connections of an engine that hung are gone with it.
        await door.goAway()
        await door.comeBack()
      }
    },
  },
  {
    name: 'container removed',
    kind: 'containers',
    weight: 3,
    rounds: 1,
    strike: toContainer('rm', '--force', '--volumes'),
  },
  { name: 'container killed', kind: 'containers', weight: 2, rounds: 1, strike: toContainer('kill') },
  {
    name: 'disk full',
    kind: 'disk',
    weight: 2,
    rounds: 3,
    async strike({ disk }) {
      if (!disk) return null
      await disk.fill()
      return () => disk.empty()
    },
  },
  {
    name: 'clock stepped',
    kind: 'clock',
    weight: 1,
    rounds: 4,
    async strike(rig, draw) {
      const hours = draw.pick([3, -3, 26, -26])
      rig.note(`  by ${hours} hours`)
      rig.setClock(hours * HOUR_MS)
      return async () => rig.setClock(0)
    },
  },
]

/** The engine's end, which takes it from everything else on this machine, too. */
export const ENGINE_CRASH: Fault = {
  name: 'engine killed',
  kind: 'engine',
  weight: 3,
  rounds: 2,
  strike: () => crashEngine(),
}

/** The faults that are drawn, but for some kinds. */
export function faultsWithout(kinds: readonly FaultKind[]): Fault[] {
  return FAULTS.filter(({ kind }) => !kinds.includes(kind))
}

/** The kinds that can be left out. */
export const FAULT_KINDS: readonly FaultKind[] = [...new Set(FAULTS.map(({ kind }) => kind))]

/** The processes of a data plane, which say in their titles whose they are. */
function dataPlane(role: string, dataDirectory: string): number[] {
  const title = `deployer-proxy ${role} ${dataDirectory}`
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && titleOf(pid).startsWith(title))
    .toSorted((one, other) => one - other)
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // The process has just ended.
    return ''
  }
}
