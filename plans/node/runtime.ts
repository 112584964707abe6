import { NODE_MAJORS } from '../base-images.ts'
import type { PlanSettings } from '../plan.ts'
import { baseImage } from '../steps.ts'
import type { Project } from './project.ts'
import { chooseBunVersion, chooseNodeMajor } from './version.ts'

/** The runtime of the code. */
export interface Runtime {
  name: 'node' | 'bun'
  version: string | null
  /** The major version of node; null for Bun. */
  nodeMajor: number | null
  fullImage: string
  slimImage: string
  /** Lines that bring the runtime into the full image, where that is another runtime's. */
  lines(settings: PlanSettings): string[]
}

/**
 * Returns the version of node or Bun that a project pins, with its images. Throws BuildFailure for one that is not
 * available.
 */
export async function chooseRuntime(
  name: Runtime['name'],
  { tree, manifest, root, rootManifest, folder }: Project,
  notes: string[],
): Promise<Runtime> {
  const places =
    folder === ''
      ? [{ tree, manifest }]
      : [
          { tree, manifest },
          { tree: root, manifest: rootManifest },
        ]
  if (name === 'node') {
    const major = await chooseNodeMajor(places, notes)
    return {
      name,
      version: String(major),
      nodeMajor: major,
      fullImage: `node:${major}-bookworm`,
      slimImage: `node:${major}-bookworm-slim`,
      lines: () => [],
    }
  }
  const version = await chooseBunVersion(places, notes)
  const image = `oven/bun:${version ?? '1'}`
  return {
    name,
    version,
    nodeMajor: null,
    // Bun's own image has no compilers; build tools that call node find it here.
    fullImage: `node:${NODE_MAJORS.findLast((major) => major % 2 === 0 && major <= TOOLS_MAJOR)!}-bookworm`,
    slimImage: image,
    lines: (settings) => [
      `COPY --from=${baseImage(settings, image)} /usr/local/bin/bun /usr/local/bin/bun`,
      'RUN ln -s bun /usr/local/bin/bunx',
    ],
  }
}

/** The long-term support version of node, for tools. */
const TOOLS_MAJOR = 24
