import { arch } from 'node:os'
import type { ImageFacts } from '#server/deploys/snapshot.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { judgeRegistry } from '#server/images/registry.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { isEngineAway } from '../engine/index.ts'
import type { World } from '../world.ts'
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
  await judgeRegistry(reference, signal)
  log.system(`pulling ${reference}`)
  try {
    const onLine = (line: string): void => log.output('stdout', line)
    await withinBuildTimeout('pulling it', signal, (limited) =>
      images.pull(reference, { signal: limited, onLine }),
    )
  } catch (error) {
    signal.throwIfAborted()
    if (isEngineAway(error)) throw error
    if (!(await images.inspect(reference))) {
      throw new AppError('runtime_error', `the image ${reference} cannot be pulled: ${messageOf(error)}`, {
        cause: error,
      })
    }
    log.system(
      `${reference} cannot be pulled (${messageOf(error)}); using the image that the engine already has`,
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
