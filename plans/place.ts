import { posix } from 'node:path'
import type { WholeSource } from './plan.ts'
import { withoutXmlComments } from './source/comments.ts'
import { linesOf } from './source/text.ts'
import type { Tree } from './source/tree.ts'
import { PLAIN_PATH } from './steps.ts'

/** Where a build runs: in the tree alone, or in its folder of the whole source. */
export interface Place {
  needsWhole: boolean
  /** The tree's folder in the image. */
  directory: string
  /** The lines that bring the source, and go to that folder. */
  source: string[]
  /** The folder of the whole source with the file that the tool finds above the tree; null for none. */
  above: string | null
}

/** What the tools of a language read outside of a tree. */
export interface Reach {
  /** The manifests, each with the lines of it that may name a path. */
  manifests?: Readonly<Record<string, RegExp>>
  /** Files that the tool looks for in the folders above by itself. */
  above?: readonly string[]
  /** Whether a package.json of the tree is installed too, for which the whole source is another project. */
  hasAssets?: boolean
  /** Whether such a file, in `folder` of the source, is for the tree in its folder `below`; always, if absent. */
  isFor?: (text: string, below: string, folder: Tree) => boolean | Promise<boolean>
}

/** Any line. */
export const EVERY_LINE = /^/

const ROOT = '/app'

/** The place of a tree that is built alone. */
export const ALONE: Place = {
  needsWhole: false,
  directory: ROOT,
  source: ['COPY source/ ./'],
  above: null,
}

/** How many paths are looked up, and how many notes say that one is missing. */
const MAX_PATHS = 50
const SHOWN_MISSING = 3

/**
 * Chooses where a tree is built: with the whole source where its manifests name a path that is there, but outside of
 * `root_dir`, or where its tool finds a file above it, as it would in a checkout. Notes say so, and name paths that no build
 * can see.
 */
export async function choosePlace(
  tree: Tree,
  whole: WholeSource | null,
  notes: string[],
  reach: Reach,
): Promise<Place> {
  const outside = await pathsOutside(tree, whole?.folder ?? '', reach)
  const hasAssets = reach.hasAssets === true && (await tree.hasFile('package.json'))
  if (whole !== null && !hasAssets && PLAIN_PATH.test(whole.folder)) {
    for (const { file, path, target } of outside) {
      if (target.startsWith('..') || !(await whole.tree.has(target))) continue
      notes.push(
        `building in ${whole.folder} of the whole source: ${file} names ${path}, outside of root_dir`,
      )
      return inWhole(whole, await fileAbove(whole, reach))
    }
    const above = await fileAbove(whole, reach)
    if (above !== null) {
      notes.push(`building in ${whole.folder} of the whole source: ${above.file} is above root_dir`)
      return inWhole(whole, above)
    }
  }
  for (const { file, path, target } of outside
    .filter(({ path }) => !ONLY_UP.test(path))
    .slice(0, SHOWN_MISSING)) {
    const isBeyond = whole === null || target.startsWith('..')
    notes.push(
      `${file} names ${path}, outside of ${isBeyond ? 'the source' : 'root_dir'}: the build does not see it`,
    )
  }
  return ALONE
}

/** Folders above as such, which settings name in order to look for something there. */
const ONLY_UP = /^[./]*$/

interface Found {
  file: string
  folder: string
}

function inWhole({ folder }: WholeSource, above: Found | null): Place {
  const directory = posix.join(ROOT, folder)
  return {
    needsWhole: true,
    directory,
    source: ['COPY source/ ./', `WORKDIR ${directory}`],
    above: above?.folder ?? null,
  }
}

/** Returns the nearest file above the tree that its tool reads; null for none. */
async function fileAbove({ tree, folder }: WholeSource, { above = [], isFor }: Reach): Promise<Found | null> {
  for (let place = folder; place !== '.';) {
    place = posix.dirname(place)
    for (const name of above) {
      const file = posix.join(place, name)
      const text = await tree.readText(file)
      if (text === null) continue
      if (isFor === undefined || (await isFor(text, posix.relative(place, folder), tree.folder(place))))
        return { file, folder: place }
    }
  }
  return null
}

/** A path as a manifest writes it, and as one of the source. */
interface Outside {
  file: string
  path: string
  target: string
}

/** A path that begins in the folder above, up to a wildcard. */
const UPWARDS = /(?<![\w./])(?:\.\/)?(\.\.(?:\/[\w@+.-]+)*)(?=[/"'`\s),;:>\]}<]|$)/g

/** Returns the paths outside of a tree that its manifests name. */
async function pathsOutside(tree: Tree, folder: string, { manifests = {} }: Reach): Promise<Outside[]> {
  const found = new Map<string, Outside>()
  for (const [file, naming] of Object.entries(manifests)) {
    const text = withoutXmlComments((await tree.readText(file)) ?? '')
    for (const line of linesOf(text)) {
      if (/^\s*(?:#|\/\/|;)/.test(line) || line.includes('__FILE__') || !naming.test(line)) continue
      // A variable before it is nearly always the folder of the manifest; Windows has other separators.
      const written = line.replaceAll('\\', '/').replaceAll(/(?:[)}]|\$\w+)\//g, ' ')
      for (const [, path] of written.matchAll(UPWARDS)) {
        const inTree = posix.join(posix.dirname(file), path!)
        if (!inTree.startsWith('..') || found.size === MAX_PATHS) continue
        const target = posix.join(folder, inTree)
        if (!found.has(inTree)) found.set(inTree, { file, path: path!, target })
      }
    }
  }
  return [...found.values()]
}
