import { provideBlueprintProgram } from '#server/blueprints/reading-thread.ts'
import { useContext } from '#server/context.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { ledger } from '#server/ledger.ts'
import { assertUnfenced, isFenced } from '#server/restore/fence.ts'
import { takeOrderlyStop } from '#server/work/orderly-stop.ts'
import { logger } from '#server/log.ts'
import { BlueprintSync } from './blueprints/sync.ts'
import { provideMachines } from '#server/nodes/machines.ts'
import { provideSearchProgram } from '#server/logs/search-thread.ts'
import { providePackingProgram } from '#server/server-backups/packing-thread.ts'
import { Certification } from './certificates/certification.ts'
import { BackupWork } from './backups/work.ts'
import { dumpDatastore } from './datastores/backup.ts'
import { Cleaner } from './cleanup/cleaner.ts'
import { DatastoreKeeper } from './datastores/keeper.ts'
import { DeployQueue } from './deploys/queue.ts'
import { deploysDone } from './deploys/runs.ts'
import { recoverDeploys } from './deploys/recover.ts'
import { dumpDisk } from './disks/backup.ts'
import { removeDisks } from './disks/remove.ts'
import { DiskRestores } from './disks/restores.ts'
import { DiskMeter } from './disk-use/meter.ts'
import { Driver } from './work/driver.ts'
import { Verification } from './domains/verification.ts'
import { engineEvents } from './engine-events.ts'
import { createEngine } from './engine/index.ts'
import { overlays, reconcileOverlays } from './environments/overlays.ts'
import { environments } from './environments/provide.ts'
import { jobCleanup } from './jobs/cleanup.ts'
import { reportCommitStatuses } from './git-statuses.ts'
import { heartbeat } from './heartbeat.ts'
import { nodeEvents } from './node-events.ts'
import { JobQueue, jobsDone } from './jobs/queue.ts'
import { Schedule } from './jobs/schedule.ts'
import { ServiceMoves } from './moves/services.ts'
import { Metrics } from './metrics/metrics.ts'
import { LogDrains } from './log-drains/drains.ts'
import { accessLines } from './logs/access-lines.ts'
import { LogCollector } from './logs/collector.ts'
import { answeringEngines } from './nodes/engines.ts'
import { provideAgentProgram } from './nodes/agent-service.ts'
import { answers } from './nodes/presence.ts'
import { Machines } from './nodes/machines.ts'
import { Notifier } from './notifications/delivery.ts'
import { looks } from './notifications/looks.ts'
import { ServiceWatch } from './notifications/service-watch.ts'
import { DataPlane } from './proxy/data-plane.ts'
import { provideReaderProgram } from './reader/reader.ts'
import { provideGitRunner } from './sources/git-command.ts'
import { Health } from './instances/health.ts'
import { InstanceKeeper } from './instances/keeper.ts'
import { restoreFence } from './restore/fence.ts'
import { restore } from './restore/task.ts'
import { retention } from './retention.ts'
import { ensureSshKey } from './sources/ssh-key.ts'
import { ServerBackups } from './server-backups/server-backups.ts'
import { removeLeftCheckouts } from './sources/left-checkouts.ts'
import { fenceTask } from './fence.ts'
import { trialFence } from './upgrade/fence.ts'
import { isOnTrial } from '#server/upgrade/trial.ts'
import { whileSeveral } from './nodes/while-several.ts'
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
  const started = await connect(start)
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
  const begin = (): void => void (working = beginWork(driver, started, serviceLogs))
  const enter = (): void => {
    if (isFenced()) driver.start(fenceTask(started, restoreFence(started), begin))
    else begin()
  }
  if (isOnTrial()) driver.start(fenceTask(started, trialFence(started), enter))
  else enter()
  ensureSshKey(dataDirectory).catch((error: unknown) =>
    log.warn('there is no SSH key for cloning', { error: messageOf(error) }),
  )
  return { stop: () => stop(driver, started, working, serviceLogs) }
}

/** Everything that changes something: containers, routes, certificates, what others are told. */
interface Working {
  workers: Workers
  observers: Observers
}

function beginWork(driver: Driver, started: World, serviceLogs: LogCollector): Working {
  const workers = createWorkers(started)
  recover(workers)
  void removeLeftCheckouts(useContext().options.dataDirectory)
  const observers = createObservers(started)
  verification = observers.domains
  blueprintSync = observers.blueprints
  startTasks(driver, started, workers, observers, serviceLogs)
  return { workers, observers }
}

/** Connects to the container engine and the data plane. */
async function connect({ proxyProgram, apiPort }: Start): Promise<World> {
  const { options, serverId } = useContext()
  const engine = createEngine({
    ...(options.dockerHost === null ? {} : { dockerHost: options.dockerHost }),
    serverId,
    ledger,
  })
  const machines = new Machines({
    engine,
    reachByAddress: () => connected.reachByAddress,
    nodesChanged: () => reconcileOverlays(connected),
  })
  const connected: World = {
    engine,
    machines,
    engineOf: (nodeId) => machines.engineOf(nodeId),
    engines: () => answeringEngines(machines),
    dataPlane: await DataPlane.start(proxyProgram, apiPort),
    reachByAddress: null,
    engineFault: null,
    metadataFault: null,
    engineDepartures: 0,
    departuresOfOthers: new Map(),
  }
  return connected
}

/** What brings services and datastores to their desired state. */
interface Workers {
  deploys: DeployQueue
  jobs: JobQueue
  schedule: Schedule
  instances: InstanceKeeper
  datastores: DatastoreKeeper
  serverBackups: ServerBackups
  backups: BackupWork
  diskRestores: DiskRestores
  serviceMoves: ServiceMoves
}

function createWorkers(world: World): Workers {
  const backups = new BackupWork(world, { datastore: dumpDatastore, disk: dumpDisk })
  const diskRestores = new DiskRestores(world, (name) => backups.isUnderWay(name))
  const serviceMoves = new ServiceMoves(world)
  return {
    deploys: new DeployQueue(world),
    jobs: new JobQueue(world),
    schedule: new Schedule(),
    instances: new InstanceKeeper(world, {
      workDone: (id) =>
        Promise.all([
          deploysDone(id),
          jobsDone(id),
          backups.cancel(id),
          diskRestores.cancel(id),
          serviceMoves.cancel(id),
        ]),
      removeDisks: (service) => removeDisks(world, service),
    }),
    datastores: new DatastoreKeeper(world, backups),
    backups,
    diskRestores,
    serviceMoves,
    serverBackups: new ServerBackups(world),
  }
}

/** Continues what the last run of the server left. */
function recover({ datastores, backups, diskRestores, serviceMoves, serverBackups }: Workers): void {
  const hasCrashed = !takeOrderlyStop()
  recoverDeploys(hasCrashed)
  backups.recover()
  datastores.recover(hasCrashed)
  diskRestores.recover(hasCrashed)
  serviceMoves.recover(hasCrashed)
  serverBackups.recover()
}

/** What follows the state of services and domains, and of repositories. */
interface Observers {
  domains: Verification
  certificates: Certification
  blueprints: BlueprintSync
  endCommitStatuses: () => void
  logDrains: LogDrains
  notifier: Notifier
  serviceWatch: ServiceWatch
}

/** They are created after the recovery, which they do not report. */
function createObservers(world: World): Observers {
  return {
    domains: new Verification(world),
    certificates: new Certification(world),
    blueprints: new BlueprintSync(world),
    endCommitStatuses: reportCommitStatuses(),
    logDrains: new LogDrains(),
    notifier: new Notifier(),
    serviceWatch: new ServiceWatch(world),
  }
}

function startTasks(
  driver: Driver,
  world: World,
  {
    deploys,
    jobs,
    schedule,
    instances,
    datastores,
    backups,
    diskRestores,
    serviceMoves,
    serverBackups,
  }: Workers,
  { domains, certificates, blueprints, notifier }: Observers,
  serviceLogs: LogCollector,
): void {
  const wakeOthers = (): void => {
    driver.wake('deploys')
    driver.wake('jobs')
    driver.wake('overlays')
    driver.wake('cleanup')
    driver.wake('job cleanup')
    backups.look()
    driver.wake('restores of disks')
    driver.wake('moves of services')
  }
  const followers = { instances, datastores, serviceLogs, wakeOthers }
  driver.start(engineEvents(world, followers))
  driver.start(whileSeveral(nodeEvents(world, followers), () => driver.wake('events of nodes')))
  driver.start(deploys.task(() => driver.wake('deploys')))
  driver.start(instances.task(() => driver.wake('instances')))
  driver.start(new Health(world, instances).task())
  for (const task of backups.tasks((name) => driver.wake(name))) driver.start(task)
  driver.start(diskRestores.task(() => driver.wake('restores of disks')))
  driver.start(serviceMoves.task(() => driver.wake('moves of services')))
  for (const task of datastores.tasks((name) => driver.wake(name))) driver.start(task)
  driver.start(jobs.task(() => driver.wake('jobs')))
  driver.start(schedule.task(() => driver.wake('schedule')))
  driver.start(domains.task(() => driver.wake('domains')))
  driver.start(certificates.task(() => driver.wake('certificates')))
  driver.start(blueprints.task(() => driver.wake('blueprints')))
  driver.start(serverBackups.task(() => driver.wake('server backups')))
  driver.start(
    useCleaner().task(() => {
      useDiskMeter().forget()
      driver.wake('deploys')
    }),
  )
  driver.start(environments(world))
  driver.start(world.machines.task(() => driver.wake('nodes')))
  provideMachines(world.machines)
  driver.start(whileSeveral(overlays(world), () => driver.wake('overlays')))
  driver.start(jobCleanup(world))
  driver.start(restore(world))
  driver.start(notifier.task(() => driver.wake('notifications')))
  driver.start(looks())
  const { heartbeatUrl } = useContext().options
  if (heartbeatUrl !== null) driver.start(heartbeat(world, heartbeatUrl))
}

async function stop(
  driver: Driver,
  world: World,
  working: Working | undefined,
  serviceLogs: LogCollector,
): Promise<void> {
  if (working) stopWorkers(working)
  await Promise.all([working?.workers.deploys.stop(), working?.workers.jobs.stop(), driver.stop()])
  metrics?.stop()
  await Promise.all([
    serviceLogs.stop(),
    working?.observers.logDrains.stop(),
    working?.observers.notifier.stop(),
  ])
  world.machines.stop()
  world.dataPlane.close()
}

function stopWorkers({ workers, observers }: Working): void {
  observers.endCommitStatuses()
  workers.instances.stop()
  workers.datastores.stop()
  workers.backups.stop()
  workers.diskRestores.stop()
  workers.serviceMoves.stop()
  workers.serverBackups.stop()
  observers.domains.stop()
  observers.certificates.stop()
  workers.schedule.stop()
  observers.serviceWatch.stop()
}
