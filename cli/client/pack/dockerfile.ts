import { statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Service } from '#server/services/schema.ts'

/** The Dockerfile that builds a service. Both paths are relative to the packed folder. */
export interface Dockerfile {
  path: string
  /** The folder that is its build context; empty for all. */
  context: string
}

/** Names in the order in which the server looks for them; the others count only where a Dockerfile is asked for. */
const USUAL_NAME = 'Dockerfile'
const OTHER_NAMES = ['dockerfile', 'Containerfile']

export type BuildSettings = Pick<Service, 'type' | 'runtime' | 'root_dir' | 'dockerfile_path'>

/** The Dockerfile with which the server will build a folder, by its settings and files; null when there is none. */
export function dockerfileOf(folder: string, settings: BuildSettings): Dockerfile | null {
  const context = posix.normalize(settings.root_dir ?? '.').replace(/\/$/, '')
  const inContext = (name: string): string => posix.join(context, name)
  const isWanted = settings.runtime === 'docker' || settings.dockerfile_path !== null
  const isLooked = settings.runtime === 'auto' && settings.type !== 'static_site'
  if (!isWanted && !isLooked) return null
  const named = settings.dockerfile_path === null ? [] : [settings.dockerfile_path]
  const usual = isWanted ? [USUAL_NAME, ...OTHER_NAMES] : [USUAL_NAME]
  const path = [...named, ...usual].map(inContext).find((each) => isFile(join(folder, each)))
  return path === undefined ? null : { path, context: context === '.' ? '' : context }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
