import { allDatastores } from '#server/datastores/store.ts'
import { listEnvironments } from '#server/environments/store.ts'
import { allInstances } from '#server/instances/store.ts'
import type { ContainerCounters, Subject } from '#server/metrics/sample.ts'
import { qualifiedName } from '#server/services/qualified-name.ts'
import { listServices } from '#server/services/store.ts'
import { containerLimits } from '../datastores/container.ts'
import type { Engine, RunningContainer } from '../engine/index.ts'
import type { NodeEngine } from '../nodes/engines.ts'

/** An engine that takes longer to list its containers counts as one that does not answer. */
const LIST_MS = 5_000
/** Containers that the engine is asked about in parallel: for each it reads many files of the kernel. */
const PARALLEL = 4
const READ_ONE_MS = 5_000
/** For all containers together, so that a round ends before the next one; those not read by then are null. */
const READ_ALL_MS = 8_000

type Figures = Pick<
  ContainerCounters,
  'clock' | 'cpuSeconds' | 'memoryBytes' | 'cpuLimit' | 'memoryLimitBytes'
>

/** Reads what each running instance and datastore on a node has used; null if its engine does not answer. */
export async function readContainers(
  { nodeId, engine }: NodeEngine,
  signal: AbortSignal,
  listMs = LIST_MS,
): Promise<ContainerCounters[] | null> {
  let running: RunningContainer[]
  try {
    running = await engine.usages.running(listMs)
  } catch {
    return null
  }
  const subjects = subjectsByContainer()
  const rest = running.filter(({ name }) => subjects.has(name))
  const limited = AbortSignal.any([signal, AbortSignal.timeout(READ_ALL_MS)])
  const read: ContainerCounters[] = []
  const work = async () => {
    for (let container = rest.shift(); container; container = rest.shift()) {
      const { limits, ...subject } = subjects.get(container.name)!
      const figures = await figuresOf(engine, container, limited)
      if (figures) read.push({ ...subject, node: nodeId, container: container.name, ...figures, ...limits })
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return read
}

/** Returns null for a container that has ended, and empty figures for one that cannot be read. */
async function figuresOf(
  engine: Engine,
  container: RunningContainer,
  signal: AbortSignal,
): Promise<Figures | null> {
  try {
    const usage = await engine.usages.read(container, { signal, timeoutMs: READ_ONE_MS })
    return usage && { clock: clock(), ...usage }
  } catch {
    return { clock: clock(), cpuSeconds: null, memoryBytes: null, cpuLimit: null, memoryLimitBytes: null }
  }
}

function clock(): number {
  return performance.now() / 1_000
}

/** What a container belongs to, and its limits if they can change while it runs. */
type Known = Subject & { limits?: Pick<Figures, 'cpuLimit' | 'memoryLimitBytes'> }

function subjectsByContainer(): Map<string, Known> {
  const subjects = new Map<string, Known>()
  const services = serviceSubjects()
  for (const { id, service_id } of allInstances()) {
    const service = services.get(service_id)
    if (service) subjects.set(id, service)
  }
  const environments = new Map(listEnvironments().map((environment) => [environment.id, environment]))
  for (const row of allDatastores()) {
    const { memoryBytes, cpus } = containerLimits(row)
    subjects.set(row.id, {
      id: row.id,
      name: qualifiedName(row.name, environments.get(row.environment_id)!),
      kind: 'datastore',
      limits: { cpuLimit: cpus, memoryLimitBytes: memoryBytes },
    })
  }
  return subjects
}

/** Returns every service by its id. */
export function serviceSubjects(): Map<string, Subject> {
  return new Map(
    listEnvironments().flatMap((environment) =>
      listServices(environment.id).map((service) => [
        service.id,
        { id: service.id, name: qualifiedName(service.name, environment), kind: 'service' as const },
      ]),
    ),
  )
}
