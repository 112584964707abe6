import type { Tree } from '../source/tree.ts'
import {
  at,
  commandOf,
  commandsOf,
  fileOf,
  joined,
  readRecord,
  silent,
  startsOf,
  textsIn,
  type HostFile,
} from './host-file.ts'

/**
 * Reads what Heroku builds with a Dockerfile, and with its newer buildpacks (devcenter.heroku.com, "Building Docker Images
 * with heroku.yml").
 */
export async function heroku(tree: Tree, notes: string[]): Promise<HostFile | null> {
  const file = 'heroku.yml'
  const value = await readRecord(tree, file, notes)
  if (value === null) return null
  const started = (name: string): string | null => {
    const line = at(value, 'run', name)
    return commandOf(line) ?? joined(commandsOf(at(line, 'command')))
  }
  const web = started('web')
  const worker = started('worker')
  const image = at(value, 'build', 'docker', 'web')
  const dockerfile = fileOf(image) ?? fileOf(at(image, 'dockerfile'))
  // There the folder of a Dockerfile is the build context.
  const isBelow = dockerfile !== null && dockerfile.includes('/')
  return {
    ...silent(file),
    starts: startsOf(web, worker),
    preDeploy: joined(commandsOf(at(value, 'release', 'command'))),
    aptPackages: textsIn(at(value, 'build', 'packages')),
    dockerfile: isBelow ? null : dockerfile,
    notes: isBelow ? [`${file} builds ${dockerfile}: set root_dir to its folder for that`] : [],
  }
}
