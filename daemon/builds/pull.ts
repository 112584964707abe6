import { arch } from 'node:os'
import type { ImageFacts } from '#server/deploys/snapshot.ts'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { repositoryOf } from '#server/images/reference.ts'
import { judgeRegistry } from '#server/images/registry.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { isEngineAway } from '../engine/index.ts'
import type { World } from '../world.ts'
import { registryAuthFor } from './registry-auth.ts'
import { withinBuildTimeout } from './time-limit.ts'

/** The engine's names for node's architectures (Go's GOARCH). */
const ARCHITECTURES: Record<string, string> = {
  x64: 'amd64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: '386',
  ppc64: 'ppc64le',
  s390x: 's390x',
  riscv64: 'riscv64',
}

/**
 * Pulls the image of a deploy. An image that the engine already has is used when its registry cannot be reached. Throws a
 * `runtime_error` that names the image when there is none, when it is for another platform, or when its registry is not
 * allowed.
 */
export async function pullImage(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<ImageFacts> {
  const reference = deploy.image!
  const { images } = world.engine
  log.steps.begin('pull', 'Pull the image')
  await judgeRegistry(reference, signal)
  log.system(`pulling ${reference}`)
  let used = ''
  try {
    const onLine = (line: string): void => log.output('stdout', line)
    const registryAuth = registryAuthFor({
      serviceId: deploy.service_id,
      images: [reference],
      onChosen: (name, registry) => {
        used = ` with the registry credential ${name}`
        log.system(`signing in at ${registry}${used}`)
      },
    })
    const { digest } = await withinBuildTimeout('pulling it', signal, (limited) =>
      images.pull(reference, { registryAuth, signal: limited, onLine }),
    )
    // By which it is found again where this host is lost.
    if (digest !== null) updateDeploy(deploy.id, { image_digest: `${repositoryOf(reference)}@${digest}` })
  } catch (error) {
    signal.throwIfAborted()
    if (isEngineAway(error)) throw error
    if (!(await images.inspect(reference))) {
      throw new AppError(
        'runtime_error',
        `the image ${reference} cannot be pulled${used}: ${messageOf(error)}`,
        { cause: error },
      )
    }
    log.system(
      `${reference} cannot be pulled${used} (${messageOf(error)}); using the image that the engine already has`,
    )
  }
  const image = await images.inspect(reference)
  if (!image)
    throw new AppError('runtime_error', `the image ${reference} is missing after it was pulled: try again`)
  const wanted = ARCHITECTURES[arch()] ?? arch()
  if (image.os !== 'linux' || image.architecture !== wanted) {
    throw new AppError(
      'runtime_error',
      `the image ${reference} is for ${image.os}/${image.architecture}, but this host is linux/${wanted}: publish it for this platform`,
    )
  }
  return image
}
