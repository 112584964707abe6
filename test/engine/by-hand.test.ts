import { afterAll, beforeAll, describe } from 'vitest'
import { NPM } from '../by-hand/npm.ts'
import { NPM_WORKSPACES } from '../by-hand/npm-workspaces.ts'
import { GO, PYTHON, RUBY, RUST } from '../by-hand/other-languages.ts'
import { OUTSIDE } from '../by-hand/outside.ts'
import { PNPM } from '../by-hand/pnpm.ts'
import { BUN_PACKAGES, YARN_CLASSIC, YARN_MODERN } from '../by-hand/yarn-bun.ts'
import { compareAll, Comparison } from './by-hand-support.ts'

let comparison: Comparison
beforeAll(async () => {
  comparison = await Comparison.open()
})
afterAll(() => comparison?.close())

// A deploy differs on purpose, so there is no case where the answer depends on: files outside `root_dir` that no workspace and
// no manifest joins to it; files that `.dockerignore` leaves out; a NODE_ENV that no variable sets; writing outside of the code while it runs.
describe('a build gives what the commands by hand give', () => {
  const kinds = {
    npm: NPM,
    'npm workspace': NPM_WORKSPACES,
    pnpm: PNPM,
    'yarn 1': YARN_CLASSIC,
    'yarn 4': YARN_MODERN,
    bun: BUN_PACKAGES,
    python: PYTHON,
    go: GO,
    ruby: RUBY,
    rust: RUST,
    'outside of root_dir': OUTSIDE,
  }
  for (const [kind, cases] of Object.entries(kinds)) compareAll(kind, cases, () => comparison)
})
