import { useContext } from '#server/context.ts'
import { takeOrderlyStop } from '#server/work/orderly-stop.ts'
import { BlueprintSync } from './blueprints/sync.ts'
import { provideMachines } from '#server/nodes/machines.ts'
import { Certification } from './certificates/certification.ts'
import { BackupWork } from './backups/work.ts'
import { dumpDatastore } from './datastores/backup.ts'
import { DatastoreKeeper } from './datastores/keeper.ts'
import { DeployQueue } from './deploys/queue.ts'
import { deploysDone } from './deploys/runs.ts'
import { recoverDeploys } from './deploys/recover.ts'
import { dumpDisk } from './disks/backup.ts'
import { removeDisks } from './disks/remove.ts'
import { strayHelpers } from './disks/helper.ts'
import { createDiskRestores, type DiskRestores } from './disks/restores.ts'
import type { Driver } from './work/driver.ts'
import { Verification } from './domains/verification.ts'
import { engineEvents } from './engine-events.ts'
import { overlays } from './environments/overlays.ts'
import { environments } from './environments/provide.ts'
import { jobCleanup } from './jobs/cleanup.ts'
import { reportCommitStatuses } from './git-statuses.ts'
import { heartbeat } from './heartbeat.ts'
import { nodeEvents } from './node-events.ts'
import { JobQueue, jobsDone } from './jobs/queue.ts'
import { Schedule } from './jobs/schedule.ts'
import { createServiceMoves, type ServiceMoves } from './moves/services.ts'
import { LogDrains } from './log-drains/drains.ts'
import type { LogCollector } from './logs/collector.ts'
import { Notifier } from './notifications/delivery.ts'
import { looks } from './notifications/looks.ts'
import { ServiceWatch } from './notifications/service-watch.ts'
import { Health } from './instances/health.ts'
import { InstanceKeeper } from './instances/keeper.ts'
import { restore } from './restore/task.ts'
import { ServerBackups } from './server-backups/server-backups.ts'
import { removeLeftCheckouts } from './sources/left-checkouts.ts'
import { whileSeveral } from './nodes/while-several.ts'
import type { World } from './world.ts'

/** Everything that changes something: containers, routes, certificates, what others are told. */
export interface Working {
  workers: Workers
  observers: Observers
}

/** Continues what the last run of the server left, and starts the tasks. */
export function beginWork(driver: Driver, world: World, serviceLogs: LogCollector): Working {
  const workers = createWorkers(world)
  recover(workers)
  void removeLeftCheckouts(useContext().options.dataDirectory)
  const observers = createObservers(world)
  startTasks(driver, world, workers, observers, serviceLogs)
  return { workers, observers }
}

export function stopWork({ workers, observers }: Working): void {
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
  const diskRestores = createDiskRestores(world)
  const serviceMoves = createServiceMoves(world)
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
  workers: Workers,
  { domains, certificates, blueprints, notifier }: Observers,
  serviceLogs: LogCollector,
): void {
  const { deploys, jobs, schedule, instances, datastores, backups, serverBackups } = workers
  const wakeOthers = (): void => {
    driver.wake('deploys')
    driver.wake('jobs')
    driver.wake('overlays')
    driver.wake('cleanup')
    driver.wake('job cleanup')
    backups.look()
    driver.wake('helpers of disks')
    driver.wake('restores of disks')
    driver.wake('moves of services')
  }
  const followers = { instances, datastores, serviceLogs, wakeOthers }
  driver.start(engineEvents(world, followers))
  driver.start(whileSeveral(nodeEvents(world, followers), () => driver.wake('events of nodes')))
  driver.start(deploys.task(() => driver.wake('deploys')))
  driver.start(instances.task(() => driver.wake('instances')))
  driver.start(new Health(world, instances).task())
  startDataWork(driver, world, workers)
  driver.start(jobs.task(() => driver.wake('jobs')))
  driver.start(schedule.task(() => driver.wake('schedule')))
  driver.start(domains.task(() => driver.wake('domains')))
  driver.start(certificates.task(() => driver.wake('certificates')))
  driver.start(blueprints.task(() => driver.wake('blueprints')))
  driver.start(serverBackups.task(() => driver.wake('server backups')))
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

/** What makes backups, and replaces data by them. */
function startDataWork(
  driver: Driver,
  world: World,
  { backups, diskRestores, serviceMoves, datastores }: Workers,
): void {
  for (const task of backups.tasks((name) => driver.wake(name))) driver.start(task)
  driver.start(strayHelpers(world, (name) => backups.isUnderWay(name)))
  driver.start(diskRestores.task(() => driver.wake('restores of disks')))
  driver.start(serviceMoves.task(() => driver.wake('moves of services')))
  for (const task of datastores.tasks((name) => driver.wake(name))) driver.start(task)
}
