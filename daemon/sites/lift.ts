import { mkdir } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { BuildFailure } from '../builds/failure.ts'
import { ArchiveFault, EntryRules } from '../sources/archive-entries.ts'
import { TreeWriter } from '../sources/unpack.ts'
import type { World } from '../world.ts'

/** What a published folder may weigh: as much as an uploaded archive may unpack to. */
const MAX_BYTES = 4 * 1024 ** 3
/** The container is never started; the engine wants limits all the same. */
const NOT_STARTED = { memoryBytes: 64 * 1024 * 1024, cpus: 1 }

/** What of which image becomes a site's files. */
export interface Lift {
  /** The deploy, for the name of the container that is made for it. */
  deployId: string
  imageId: string
  /** The image's working directory. */
  workdir: string
  /** Relative to it. */
  publishDirectory: string
}

/**
 * Copies a folder of an image into `directory`, through a container that is made for it and never started.
 * Throws BuildFailure when it is not there, or holds anything but files and folders.
 */
export async function liftFolder(
  world: World,
  lift: Lift,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const path = posix.resolve(lift.workdir || '/', lift.publishDirectory)
  if (path === '/') {
    throw new BuildFailure('the whole image would be published: set publish_dir to the folder with the files')
  }
  const { containers } = world.engine
  const name = `lift-${lift.deployId}`
  await containers.remove(name)
  await containers.create({
    name,
    image: lift.imageId,
    labels: { 'deployer.kind': 'lift', 'deployer.deploy': lift.deployId },
    env: {},
    // An image of files alone brings no command, which the engine asks for.
    entrypoint: ['/published'],
    network: 'none',
    ...NOT_STARTED,
  })
  try {
    const tar = await containers.getArchive(name, path, signal)
    if (!tar) throw new BuildFailure(`there is no folder ${path} in the built image: correct publish_dir`)
    await mkdir(directory)
    await unpack(tar, basename(path), directory)
  } finally {
    await containers.remove(name)
  }
}

async function unpack(tar: Readable, top: string, directory: string): Promise<void> {
  const rules = new EntryRules()
  const tree = new TreeWriter(directory)
  let bytes = 0
  try {
    // `pipe` would pass on neither a failure nor the end of a connection that is cut.
    for await (const content of pipeline(tar, extract(), () => {})) {
      const { header } = content
      if (header.name.replace(/\/$/, '') === top && header.type !== 'directory')
        throw new BuildFailure(`publish_dir is ${describe(header)}, not a folder: correct it`)
      const entry = rules.judge(below(header, top))
      bytes += header.size ?? 0
      if (bytes > MAX_BYTES)
        throw new BuildFailure(
          `the published folder weighs more than ${MAX_BYTES / 1024 ** 3} GiB: publish less`,
        )
      if (entry?.kind === 'symlink')
        throw new BuildFailure(
          `the published folder holds ${JSON.stringify(entry.path)}, which is a link: only files and folders can be published`,
        )
      if (entry) await tree.write(entry, content)
      else content.resume()
    }
    await tree.finish()
  } catch (error) {
    throw error instanceof ArchiveFault ? new BuildFailure(error.message, { cause: error }) : error
  } finally {
    tar.destroy()
  }
}

/** The engine puts the folder's own name before every entry. */
function below(header: Header, top: string): Header {
  const cut = (name: string) =>
    name === top || name.startsWith(`${top}/`) ? name.slice(top.length + 1) : name
  return {
    ...header,
    name: cut(header.name),
    ...(header.type === 'link' && header.linkname ? { linkname: cut(header.linkname) } : {}),
  }
}

function describe(header: Header): string {
  return header.type === 'symlink' ? 'a link' : 'a file'
}
