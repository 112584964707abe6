import { provideBlueprintProgram } from '#server/blueprints/reading-thread.ts'
import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { ledger } from '#server/ledger.ts'
import { takeOrderlyStop } from '#server/work/orderly-stop.ts'
import { logger } from '#server/log.ts'
import { BlueprintSync } from './blueprints/sync.ts'
import { provideSearchProgram } from '#server/logs/search-thread.ts'
import { Certification } from './certificates/certification.ts'
import { cleanup } from './cleanup/task.ts'
import { DatastoreKeeper } from './datastores/keeper.ts'
import { DeployQueue } from './deploys/queue.ts'
import { deploysDone } from './deploys/runs.ts'
import { recoverDeploys } from './deploys/recover.ts'
import { Driver } from './work/driver.ts'
import { Verification } from './domains/verification.ts'
import { engineEvents } from './engine-events.ts'
import { createEngine } from './engine/index.ts'
import { environments } from './environments/provide.ts'
import { jobCleanup } from './jobs/cleanup.ts'
import { reportCommitStatuses } from './git-statuses.ts'
import { JobQueue, jobsDone } from './jobs/queue.ts'
import { Schedule } from './jobs/schedule.ts'
import { Metrics } from './metrics/metrics.ts'
import { LogDrains } from './log-drains/drains.ts'
import { LogCollector } from './logs/collector.ts'
import { Notifier } from './notifications/delivery.ts'
import { looks } from './notifications/looks.ts'
import { ServiceWatch } from './notifications/service-watch.ts'
import { DataPlane } from './proxy/data-plane.ts'
import { provideReaderProgram } from './reader/reader.ts'
import { provideGitRunner } from './sources/git-command.ts'
import { Health } from './instances/health.ts'
import { InstanceKeeper } from './instances/keeper.ts'
import { ensureSshKey } from './sources/ssh-key.ts'
import { removeLeftCheckouts } from './sources/left-checkouts.ts'
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
}

let world: World | undefined
let apiUrl = ''
let verification: Verification | undefined
let blueprintSync: BlueprintSync | undefined
let metrics: Metrics | undefined

/** What the tasks act on. Throws before the daemon has started. */
export function useWorld(): World {
  if (!world) throw new Error('the daemon has not started')
  return world
}

/** Where the control plane itself listens. */
export function useApiAddress(): string {
  return apiUrl
}

/** Checks a domain now; see `Verification`. Throws before the daemon has started. */
export function verifyDomain(domain: DomainRow): Promise<DomainRow> {
  if (!verification) throw new Error('the daemon has not started')
  return verification.verify(domain)
}

/** The part that keeps blueprints in sync with repositories. Throws before the daemon has started. */
export function useBlueprintSync(): BlueprintSync {
  if (!blueprintSync) throw new Error('the daemon has not started')
  return blueprintSync
}

/** The measurements. Throws before the daemon has started. */
export function useMetrics(): Metrics {
  if (!metrics) throw new Error('the daemon has not started')
  return metrics
}

/**
 * Connects to the engine and the data plane and starts the tasks. Throws when an address or the engine's socket cannot be
 * used.
 */
export async function startDaemon(start: Start): Promise<Daemon> {
  const { dataDirectory } = useContext().options
  apiUrl = start.apiUrl
  provideReaderProgram(start.readerProgram)
  provideGitRunner(start.gitProgram)
  provideSearchProgram(start.searchProgram)
  provideBlueprintProgram(start.blueprintProgram)
  const started = await connect(start)
  world = started
  const workers = createWorkers(started)
  recover(workers)
  void removeLeftCheckouts(dataDirectory)
  const observers = createObservers(started)
  verification = observers.domains
  blueprintSync = observers.blueprints
  metrics = observers.metrics
  const driver = new Driver()
  startTasks(driver, started, workers, observers)
  ensureSshKey(dataDirectory).catch((error: unknown) =>
    log.warn('there is no SSH key for cloning', { error: messageOf(error) }),
  )
  return { stop: () => stop(driver, started, workers, observers) }
}

/** Connects to the container engine and the data plane. */
async function connect({ proxyProgram, apiPort }: Start): Promise<World> {
  const { options, serverId } = useContext()
  const engine = createEngine({
    ...(options.dockerHost === null ? {} : { dockerHost: options.dockerHost }),
    serverId,
    ledger,
  })
  return {
    engine,
    dataPlane: await DataPlane.start(proxyProgram, apiPort),
    reachByAddress: null,
    engineFault: null,
    metadataFault: null,
    engineDepartures: 0,
  }
}

/** What brings services and datastores to their desired state. */
interface Workers {
  deploys: DeployQueue
  jobs: JobQueue
  schedule: Schedule
  instances: InstanceKeeper
  datastores: DatastoreKeeper
}

function createWorkers(world: World): Workers {
  return {
    deploys: new DeployQueue(world),
    jobs: new JobQueue(world),
    schedule: new Schedule(),
    instances: new InstanceKeeper(world, (id) => Promise.all([deploysDone(id), jobsDone(id)])),
    datastores: new DatastoreKeeper(world),
  }
}

/** Continues what the last run of the server left. */
function recover({ datastores }: Workers): void {
  const hasCrashed = !takeOrderlyStop()
  recoverDeploys(hasCrashed)
  datastores.recover(hasCrashed)
}

/** What follows the state of services and domains, and of repositories. */
interface Observers {
  domains: Verification
  certificates: Certification
  blueprints: BlueprintSync
  endCommitStatuses: () => void
  metrics: Metrics
  serviceLogs: LogCollector
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
    metrics: new Metrics(world),
    serviceLogs: new LogCollector(world.engine),
    logDrains: new LogDrains(),
    notifier: new Notifier(),
    serviceWatch: new ServiceWatch(),
  }
}

function startTasks(
  driver: Driver,
  world: World,
  { deploys, jobs, schedule, instances, datastores }: Workers,
  { domains, certificates, blueprints, metrics, serviceLogs, notifier }: Observers,
): void {
  driver.start(
    engineEvents(world, instances, datastores, serviceLogs, () => {
      driver.wake('deploys')
      driver.wake('jobs')
      driver.wake('cleanup')
    }),
  )
  driver.start(deploys.task(() => driver.wake('deploys')))
  driver.start(instances.task(() => driver.wake('instances')))
  driver.start(new Health(world, instances).task())
  for (const task of datastores.tasks((name) => driver.wake(name))) driver.start(task)
  driver.start(jobs.task(() => driver.wake('jobs')))
  driver.start(schedule.task(() => driver.wake('schedule')))
  driver.start(domains.task(() => driver.wake('domains')))
  driver.start(certificates.task(() => driver.wake('certificates')))
  driver.start(blueprints.task(() => driver.wake('blueprints')))
  driver.start(cleanup(world))
  driver.start(environments(world))
  driver.start(jobCleanup(world))
  driver.start(metrics.task())
  driver.start(serviceLogs.task())
  driver.start(notifier.task(() => driver.wake('notifications')))
  driver.start(looks())
}

async function stop(driver: Driver, world: World, workers: Workers, observers: Observers): Promise<void> {
  observers.endCommitStatuses()
  workers.instances.stop()
  workers.datastores.stop()
  observers.domains.stop()
  observers.certificates.stop()
  workers.schedule.stop()
  observers.serviceWatch.stop()
  await Promise.all([workers.deploys.stop(), workers.jobs.stop(), driver.stop()])
  observers.metrics.stop()
  await Promise.all([observers.serviceLogs.stop(), observers.logDrains.stop(), observers.notifier.stop()])
  world.dataPlane.close()
}
