import type { Tree } from '../source/tree.ts'
import { flyDockerfile } from './fly.ts'
import { fileOf, readRecord, silent, type HostFile } from './host-file.ts'

/** The name of CapRover's file, which is JSON. */
const CAPTAIN_DEFINITION = 'captain-definition'

/**
 * Reads CapRover's file, which names a Dockerfile of the source or contains its lines (caprover.com, "Captain Definition
 * File").
 */
export async function caprover(tree: Tree, notes: string[]): Promise<HostFile | null> {
  const file = CAPTAIN_DEFINITION
  const value = await readRecord(tree, file, notes)
  if (value === null) return null
  const dockerfile = fileOf(value.dockerfilePath)
  if (dockerfile !== null && dockerfile !== 'Dockerfile') {
    // With a Dockerfile for each of two hosts, it is unclear which of them this server is like.
    const theirs = flyDockerfile(await readRecord(tree, 'fly.toml', []))
    const isOnly = theirs === null || theirs === dockerfile
    const notes = isOnly ? [] : [`${file} builds with ${dockerfile}: set dockerfile_path for that`]
    return { ...silent(file), dockerfile: isOnly ? dockerfile : null, notes }
  }
  return {
    ...silent(file),
    notes: Array.isArray(value.dockerfileLines)
      ? [
          `${file} contains the lines of a Dockerfile, which are not used: put them into a file named Dockerfile`,
        ]
      : typeof value.imageName === 'string'
        ? [`${file} runs an existing image: make it a service with the runtime image for that`]
        : [],
  }
}
