import { provideBlueprintProgram } from '#server/blueprints/reading-thread.ts'
import { useContext } from '#server/context.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { ledger } from '#server/ledger.ts'
import { assertUnfenced } from '#server/restore/fence.ts'
import { isRestoring } from '#server/restore/waiting.ts'
import { logger } from '#server/log.ts'
import type { BlueprintSync } from './blueprints/sync.ts'
import { provideSearchProgram } from '#server/logs/search-thread.ts'
import { providePackingProgram } from '#server/server-backups/packing-thread.ts'
import { Cleaner } from './cleanup/cleaner.ts'
import { DiskMeter } from './disk-use/meter.ts'
import { Driver } from './work/driver.ts'
import type { Verification } from './domains/verification.ts'
import { createEngine } from './engine/index.ts'
import { Entries } from './entries/entries.ts'
import { reconcileOverlays } from './environments/overlays.ts'
import { Metrics } from './metrics/metrics.ts'
import { accessLines } from './logs/access-lines.ts'
import { LogCollector } from './logs/collector.ts'
import { answeringEngines } from './nodes/engines.ts'
import { provideAgentProgram } from './nodes/agent-service.ts'
import { answers } from './nodes/presence.ts'
import { Machines } from './nodes/machines.ts'
import { DataPlane } from './proxy/data-plane.ts'
import { stageProgram } from './proxy/launch.ts'
import { provideReaderProgram } from './reader/reader.ts'
import { provideGitRunner } from './sources/git-command.ts'
import { restoreFence } from './restore/fence.ts'
import { retention } from './retention.ts'
import { ensureSshKey } from './sources/ssh-key.ts'
import { fenceTask } from './fence.ts'
import { beginWork, stopWork, type Working } from './working.ts'
import { trialFence } from './upgrade/fence.ts'
import { isOnTrial } from '#server/upgrade/trial.ts'
import type { World } from './world.ts'
import type { DomainRow } from '#server/domains/store.ts'

const log = logger('daemon')

export interface Daemon {
  /** Ends the tasks in order; containers and the data plane go on. */
  stop(): Promise<void>
}

interface Start {
  apiUrl: string
  apiPort: number
  /** The data plane's program. */
  proxyProgram: string
  /** The program that reads users' files. */
  readerProgram: string
  /** The program that starts git. */
  gitProgram: string
  /** The program that searches logs. */
  searchProgram: string
  /** The program that reads blueprints. */
  blueprintProgram: string
  /** The program that packs backups of the server. */
  packingProgram: string
  /** The program that runs on other nodes. */
  agentProgram: string
}

let world: World | undefined
let apiUrl = ''
let verification: Verification | undefined
let blueprintSync: BlueprintSync | undefined
let metrics: Metrics | undefined
let cleaner: Cleaner | undefined
let diskMeter: DiskMeter | undefined

/** What the tasks act on. Throws before the daemon has started. */
export function useWorld(): World {
  if (!world) throw new Error('the daemon has not started')
  return world
}

/** Where the control plane itself listens. */
export function useApiAddress(): string {
  return apiUrl
}

/** Checks a domain now; see `Verification`. Throws `conflict` after a restore that is not confirmed. */
export function verifyDomain(domain: DomainRow): Promise<DomainRow> {
  assertUnfenced()
  if (!verification) throw notAtWork()
  return verification.verify(domain)
}

/** The part that keeps blueprints in sync with repositories. Throws `conflict` after a restore that is not confirmed. */
export function useBlueprintSync(): BlueprintSync {
  assertUnfenced()
  if (!blueprintSync) throw notAtWork()
  return blueprintSync
}

/** For the moment between a confirmed restore and the engine's first answer. */
function notAtWork(): AppError {
  return new AppError('conflict', 'the server is about to go to work: try again in a minute')
}

/** The measurements. Throws before the daemon has started. */
export function useMetrics(): Metrics {
  if (!metrics) throw new Error('the daemon has not started')
  return metrics
}

/** What removes what is no longer needed. Throws before the daemon has started. */
export function useCleaner(): Cleaner {
  if (!cleaner) throw new Error('the daemon has not started')
  return cleaner
}

/** What measures how full the disks are, and with what. Throws before the daemon has started. */
export function useDiskMeter(): DiskMeter {
  if (!diskMeter) throw new Error('the daemon has not started')
  return diskMeter
}

/**
 * Connects to the engine and the data plane and starts the tasks; only those that look while an upgrade is on trial, and after
 * a restore that is not confirmed.
 * Throws when an address or the engine's socket cannot be used.
 */
export async function startDaemon(start: Start): Promise<Daemon> {
  const { dataDirectory } = useContext().options
  apiUrl = start.apiUrl
  provideReaderProgram(start.readerProgram)
  provideGitRunner(start.gitProgram)
  provideSearchProgram(start.searchProgram)
  provideBlueprintProgram(start.blueprintProgram)
  providePackingProgram(start.packingProgram)
  provideAgentProgram(start.agentProgram)
  const { world: started, entries } = await connect(start)
  world = started
  cleaner = new Cleaner(started)
  diskMeter = new DiskMeter(started)
  const driver = new Driver()
  const serviceLogs = new LogCollector((nodeId) =>
    answers(started, nodeId) ? started.engineOf(nodeId) : null,
  )
  metrics = new Metrics(started)
  driver.start(metrics.task())
  driver.start(serviceLogs.task())
  driver.start(accessLines(started.dataPlane))
  driver.start(retention())
  let working: Working | undefined
  const begin = (): void => void (working = work(driver, started, entries, serviceLogs))
  const enter = (): void => {
    if (isRestoring()) driver.start(fenceTask(started, restoreFence(started), begin))
    else begin()
  }
  if (isOnTrial()) driver.start(fenceTask(started, trialFence(started), enter))
  else enter()
  ensureSshKey(dataDirectory).catch((error: unknown) =>
    log.warn('there is no SSH key for cloning', { error: messageOf(error) }),
  )
  return { stop: () => stop(driver, started, working, serviceLogs) }
}

function work(driver: Driver, world: World, entries: Entries, serviceLogs: LogCollector): Working {
  const working = beginWork(driver, world, serviceLogs)
  verification = working.observers.domains
  blueprintSync = working.observers.blueprints
  const onCleaned = (): void => {
    useDiskMeter().forget()
    driver.wake('deploys')
  }
  driver.start(useCleaner().task(onCleaned))
  driver.start(entries.task(() => driver.wake('entries')))
  return working
}

/** What acts on the world, and what it needs from outside of it. */
interface Connected {
  world: World
  entries: Entries
}

/** Connects to the container engine and the data plane. */
async function connect({ proxyProgram, apiPort }: Start): Promise<Connected> {
  const { options, serverId, version } = useContext()
  const engine = createEngine({
    ...(options.dockerHost === null ? {} : { dockerHost: options.dockerHost }),
    serverId,
    ledger,
  })
  const machines = new Machines({
    engine,
    reachByAddress: () => connected.reachByAddress,
    nodesChanged: () => reconcileOverlays(connected),
    endEntry: (nodeId) => entries.end(nodeId),
  })
  const dataPlane = await DataPlane.start(proxyProgram, apiPort)
  const entries = new Entries({
    ...{ engine, dataPlane },
    engineOf: (nodeId) => machines.engineOf(nodeId),
    agentImage: () => machines.agentImage(),
    program: () => stageProgram(options.dataDirectory, proxyProgram, version),
  })
  dataPlane.lead(entries)
  const connected: World = {
    engine,
    machines,
    engineOf: (nodeId) => machines.engineOf(nodeId),
    engines: () => answeringEngines(machines),
    dataPlane,
    reachByAddress: null,
    engineFault: null,
    metadataFault: null,
    engineDepartures: 0,
    departuresOfOthers: new Map(),
  }
  return { world: connected, entries }
}

async function stop(
  driver: Driver,
  world: World,
  working: Working | undefined,
  serviceLogs: LogCollector,
): Promise<void> {
  if (working) stopWork(working)
  await Promise.all([working?.workers.deploys.stop(), working?.workers.jobs.stop(), driver.stop()])
  metrics?.stop()
  await Promise.all([
    serviceLogs.stop(),
    working?.observers.logDrains.stop(),
    working?.observers.notifier.stop(),
  ])
  world.dataPlane.close()
  world.machines.stop()
}
