import { afterEach, beforeEach, expect } from 'vitest'
import type { BuildPlan, PlanSettings } from '#plans/index.ts'
import { PlannedTree } from '../support/planned-tree.ts'

export let tree: PlannedTree
beforeEach(async () => void (tree = await PlannedTree.make()))
afterEach(() => tree.remove())

/** The files of a tree by their paths; values that are not text are written as JSON. */
export type Files = Record<string, string | object>

/** The plan for these files. */
export const plan = (
  files: Files,
  settings: Partial<PlanSettings> = {},
  runtime = 'auto',
): Promise<BuildPlan> => tree.plan(files, settings, undefined, runtime)

/** A refusal of a plan that says this. */
export const failure = (said: string) => ({ name: 'BuildFailure', message: expect.stringContaining(said) })

/** A node manifest that can be started. */
export const startable = { scripts: { start: 'node server.js' } }

/** The base of a plan's image. */
export const base = ({ dockerfile }: BuildPlan): string =>
  dockerfile.split('\n').findLast((line) => line.startsWith('FROM '))!
