import { jobMaterial } from '#server/jobs/operations.ts'
import { AppError } from '#server/errors.ts'
import type { Opener } from '#server/http/opener.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { allotJobAddress, releaseAddress } from '#server/instances/addresses.ts'
import { getInstance, instancesOf, type InstanceRow } from '#server/instances/store.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import type { Shell, ShellInput } from '#server/shells/schema.ts'
import type { ShellProgram } from '#server/shells/shell.ts'
import { openShell } from '#server/shells/shells.ts'
import { shellArguments } from '#plans/index.ts'
import { lacksShell, type Attachment, type TerminalSpec } from '../engine/index.ts'
import { addressFor } from '../environments/addresses.ts'
import { prepareLaunch } from '../instances/launch.ts'
import { putSecretFiles } from '../instances/secret-files.ts'
import { serviceContainer } from '../instances/service-container.ts'
import { placeOfRun } from '../jobs/place.ts'
import type { World } from '../world.ts'

/** Waits until its input ends, as the main program of a container that is there for a shell. */
const UNTIL_INPUT_ENDS = 'while read -r _; do :; done'
/** Not a login shell: `/etc/profile` would replace the PATH of the image. */
const BASH_OR_SH = ['/bin/sh', '-c', 'command -v bash >/dev/null && exec bash; exec /bin/sh']
const TERMINAL = { TERM: 'xterm-256color' }

/**
 * Opens a shell in an instance of a service, or in a fresh container of its live image. Throws as `openShell` does, and
 * `not_found` for an instance of another service, `conflict` if none runs or the image has no shell, `runtime_error`.
 */
export function openServiceShell(
  world: World,
  service: ServiceRow,
  input: ShellInput,
  opener: Opener,
): Promise<Shell> {
  return openShell(opener, async (id) => {
    if (service.deleting) throw new AppError('conflict', `service ${service.name} is being deleted`)
    if (service.suspended)
      throw new AppError('conflict', `service ${service.name} is suspended: resume it first`)
    const instance = input.fresh ? null : instanceFor(service, input.instance)
    const program = instance
      ? await startInside(world, service, instance, terminalOf(input))
      : await startFresh(world, service, id, terminalOf(input))
    const environment = loadEnvironment(service.environment_id).name
    return {
      program,
      container: instance?.id ?? id,
      resource: { kind: 'service', id: service.id, name: service.name, environment },
    }
  })
}

function terminalOf({ command, rows, cols }: ShellInput): TerminalSpec {
  return { command: command === undefined ? BASH_OR_SH : shellArguments(command), env: TERMINAL, rows, cols }
}

/** The instance with this name, or else the one of the live version that is most likely well. */
function instanceFor(service: ServiceRow, name: string | undefined): InstanceRow {
  const all = instancesOf(service.id)
  if (name !== undefined) {
    const found = all.find(({ id }) => id === name || id.endsWith(`-${name}`))
    if (!found) throw new AppError('not_found', `service ${service.name} has no instance ${name}`)
    if (found.status !== 'down') return found
    throw new AppError(
      'conflict',
      `instance ${name} does not run: open the shell in another one, or in a fresh container (fresh)`,
    )
  }
  const live = all.filter(({ deploy_id }) => deploy_id === service.live_deploy_id)
  const best = (['ready', 'failing', 'starting'] as const)
    .map((status) => live.find((instance) => instance.status === status))
    .find((instance) => instance !== undefined)
  if (best) return best
  // Says so where there can be no fresh container either.
  jobMaterial(service)
  throw new AppError(
    'conflict',
    `no instance of service ${service.name} runs: open the shell in a fresh container (fresh)`,
  )
}

async function startInside(
  world: World,
  service: ServiceRow,
  { id, node_id }: InstanceRow,
  spec: TerminalSpec,
): Promise<ShellProgram> {
  const terminal = await world.engineOf(node_id).programs.openTerminal(id, spec)
  if (!terminal) throw withoutShell(service)
  return {
    ...terminal,
    close: async () => terminal.close(),
    fault: (hasEnded) => faultOf(service.id) ?? faultOfInstance(id, hasEnded),
  }
}

/**
 * Starts a program in a new container of the live image, as for a one-off job. The container ends with the connection to it,
 * even if this server is killed, and is removed at the end.
 */
async function startFresh(
  world: World,
  service: ServiceRow,
  name: string,
  spec: TerminalSpec,
): Promise<ShellProgram> {
  const { deploy, snapshot } = jobMaterial(service)
  const nodeId = await placeOfRun(world, service, snapshot.image_id)
  const engine = world.engineOf(nodeId)
  const launch = await prepareLaunch(world, service, deploy, snapshot, nodeId)
  const open = new AbortController()
  let input: Attachment | undefined
  const close = async (): Promise<void> => {
    open.abort()
    input?.close()
    // If the engine cannot do it now, the cleanup of jobs will.
    await engine.containers.remove(name)
    releaseAddress(name)
  }
  try {
    const address = await addressFor(engine, allotJobAddress, service.environment_id, launch.network, name)
    await engine.containers.create({
      ...serviceContainer(launch, { name, kind: 'shell', address, command: null }),
      entrypoint: ['/bin/sh'],
      command: ['-c', UNTIL_INPUT_ENDS],
      streams: true,
    })
    await putSecretFiles(engine, name, launch)
    input = await engine.output.streams(name, open.signal)
    await engine.containers.start(name)
    const terminal = await engine.programs.openTerminal(name, spec)
    if (!terminal) throw withoutShell(service)
    return {
      ...terminal,
      close: async () => {
        terminal.close()
        await close()
      },
      fault: () => faultOf(service.id),
    }
  } catch (error) {
    await close().catch(() => {})
    throw lacksShell(error) ? withoutShell(service) : error
  }
}

function faultOf(serviceId: string): string | null {
  const service = getService(serviceId)
  if (!service || service.deleting) return 'the service was deleted'
  return service.suspended ? 'the service was suspended' : null
}

/** An instance that leaves finishes its requests first, and its shell may be used as long. */
function faultOfInstance(id: string, hasEnded: boolean): string | null {
  const instance = getInstance(id)
  const isReplaced = !instance || (hasEnded && instance.status === 'draining')
  return isReplaced ? `instance ${id} was replaced or removed` : null
}

function withoutShell({ name }: ServiceRow): AppError {
  return new AppError(
    'conflict',
    `the image of service ${name} has no /bin/sh, so no shell can be opened in it: run one of its own programs as a one-off job, as exec /program`,
  )
}
