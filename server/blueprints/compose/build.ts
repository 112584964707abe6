import { posix } from 'node:path'
import { scalarAt } from '../builder.ts'
import { plainPath, warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node, ScalarNode } from '../nodes.ts'
import { known, pairsOf } from './environment.ts'

/** How a service is built; undefined if its image is pulled. */
export function readBuild(
  program: ForeignMapping,
  notes: Notes,
): Record<string, Node | undefined> | undefined {
  const node = program.take('build')
  if (node === undefined) return undefined
  const image = program.take('image')
  if (image) warn(notes, image, 'an image that is built here has no name of its own: it is left out')
  if (node.kind === 'scalar')
    return { runtime: scalarAt(node.place, 'docker'), root_dir: inside(node, notes) }
  const build = program.mapping('build')
  if (!build) return undefined
  const file = build.scalar('dockerfile')
  const context = build.scalar('context')
  const args = build.take('args')
  if (args)
    for (const { key, node: at } of pairsOf(args, notes))
      warn(notes, at, `the build argument ${key} is a variable of the service here: add it to env`)
  build.end({ target: 'the last stage of the Dockerfile is built here: it is left out' })
  return {
    runtime: scalarAt(build.node.place, 'docker'),
    root_dir: context && inside(context, notes),
    dockerfile_path: file && inside(file, notes, context && plainPath(context.text)),
  }
}

/**
 * A path relative to the folder of the file, which is assumed to be the root of the repository, or to `base` in it;
 * undefined for that folder itself.
 */
function inside(node: ScalarNode, notes: Notes, base = ''): ScalarNode | undefined {
  const given = known(node, notes)
  if (!given) return undefined
  const path = posix.normalize(plainPath(given.text))
  if (/^(?:\w+:\/\/|git@)/.test(given.text)) {
    warn(notes, node, 'is in another repository: set repo_url, branch and root_dir by hand')
    return undefined
  }
  if (given.text.startsWith('/') || posix.join(base, path).startsWith('..')) {
    warn(
      notes,
      node,
      'is outside the folder of the file: set it by hand, relative to the root of the repository',
    )
    return undefined
  }
  return path === '.' ? undefined : scalarAt(node.place, path)
}
