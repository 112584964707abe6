import { expect } from 'vitest'
import type { PlanFacts, PlanSettings } from '#plans/index.ts'

/** A small tree in the shape of a framework's starter or a well-known example, with the right plan for it. */
export interface CorpusTree {
  title: string
  /** Paths with their contents; objects other than bytes are written as JSON. */
  files: Record<string, string | object>
  /** The folder that `root_dir` names, if the tree is a workspace. */
  folder?: string
  settings?: Partial<PlanSettings>
  /** What the plan must say, and the runtime that must be chosen. */
  plan: Partial<PlanFacts> & { runtime: string; needsWhole?: boolean }
  /** What the Dockerfile must contain. */
  dockerfile?: string[]
  /** Manifests that replace others, each as a whole. */
  manifests?: Record<string, string>
  /** What it must not contain. */
  without?: string[]
}

/** A package.json with dependencies in any version. */
export function manifest(
  scripts: Record<string, string>,
  dependencies: string[] = [],
  devDependencies: string[] = [],
  more: object = {},
): object {
  const versions = (names: string[]): Record<string, string> =>
    Object.fromEntries(
      names.map((name) => {
        const at = name.lastIndexOf('@')
        return at > 0 ? [name.slice(0, at), name.slice(at + 1)] : [name, '*']
      }),
    )
  return {
    name: 'app',
    scripts,
    dependencies: versions(dependencies),
    devDependencies: versions(devDependencies),
    ...more,
  }
}

/** The npm lock file, as far as a plan reads it. */
export const NPM_LOCK = { 'package-lock.json': { lockfileVersion: 3 } }

/** Any text with these words in it. */
export const containing = (text: string): string => expect.stringContaining(text) as string

/** Notes, one of which has these words. */
export const noted = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

/** Notes, one of which is this. */
export const withNote = (text: string): string[] => expect.arrayContaining([text]) as string[]

/** Notes, none of which has these words. */
export const unnoted = (text: string): string[] => expect.not.arrayContaining([containing(text)]) as string[]
