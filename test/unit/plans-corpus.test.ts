import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ADAPTERS } from '../corpus/adapters.ts'
import { COMPILED } from '../corpus/compiled.ts'
import { EMBEDDED } from '../corpus/embedded.ts'
import { EXAMPLES } from '../corpus/examples.ts'
import { FRESH } from '../corpus/fresh.ts'
import { HOST_FILES } from '../corpus/host-files.ts'
import { IN_THE_WILD } from '../corpus/in-the-wild.ts'
import { KEPT } from '../corpus/kept.ts'
import { LOCKS } from '../corpus/locks.ts'
import { NEAR_MISSES } from '../corpus/near-misses.ts'
import { NEWCOMERS } from '../corpus/newcomers.ts'
import { NODE_SERVERS } from '../corpus/node-servers.ts'
import { NODE_SITES } from '../corpus/node-sites.ts'
import { OTHER_HOSTS } from '../corpus/other-hosts.ts'
import { PASTED } from '../corpus/pasted.ts'
import { PINS, REFUSED_PINS } from '../corpus/pins.ts'
import { PROGRAMS } from '../corpus/programs.ts'
import { PYTHON } from '../corpus/python.ts'
import { RUBY_AND_PHP } from '../corpus/ruby-php.ts'
import { STRANGERS } from '../corpus/strangers.ts'
import type { CorpusTree } from '../corpus/tree.ts'
import { UNSEEN } from '../corpus/unseen.ts'
import { VISITORS } from '../corpus/visitors.ts'
import { WORKSPACES } from '../corpus/workspaces.ts'
import { PlannedTree } from '../support/planned-tree.ts'

let tree: PlannedTree
beforeEach(async () => void (tree = await PlannedTree.make()))
afterEach(() => tree.remove())

const CORPUS: [group: string, trees: CorpusTree[]][] = [
  ['a front end', NODE_SITES],
  ['a server', NODE_SERVERS],
  ['a workspace', WORKSPACES],
  ['Python', PYTHON],
  ['Ruby and PHP', RUBY_AND_PHP],
  ['a compiled language', COMPILED],
  ['a pinned version', PINS],
  ['an example', EXAMPLES],
  ['for another host', OTHER_HOSTS],
  ['with a file for another host', HOST_FILES],
  ['a lock file', LOCKS],
  ['in the wild', IN_THE_WILD],
  ['pasted', PASTED],
  ['a near miss', NEAR_MISSES],
  ['as before', KEPT],
  ['of a stranger', STRANGERS],
  ['new', NEWCOMERS],
  ['never seen before', UNSEEN],
  ['a visitor', VISITORS],
  ['with embedded pages', EMBEDDED],
  ['set up for a host', ADAPTERS],
  ['with one program', PROGRAMS],
  ['fresh from its tool', FRESH],
]

describe.each(CORPUS)('%s', (_group, trees) => {
  test.each(trees.map((each): [string, CorpusTree] => [each.title, each]))(
    'is planned as its documentation says: %s',
    async (_title, { files, folder, settings, plan, manifests = {}, dockerfile = [], without = [] }) => {
      const { runtime, ...facts } = plan
      const planned = await tree.plan(files, settings, folder)
      expect({ runtime: planned.name, ...planned }).toMatchObject({ runtime, ...facts })
      expect(planned.manifests).toMatchObject(manifests)
      for (const text of dockerfile) expect(planned.dockerfile).toContain(text)
      for (const text of without) expect(planned.dockerfile).not.toContain(text)
    },
  )
})

test.each(REFUSED_PINS)('refuses %s, and says what to write', async (_title, files, said) => {
  await expect(tree.plan(files)).rejects.toMatchObject({
    name: 'BuildFailure',
    message: expect.stringContaining(said) as string,
  })
})

test('every tree of the corpus is different', () => {
  const titles = CORPUS.flatMap(([, trees]) => trees.map(({ title }) => title))
  expect(new Set(titles).size).toBe(titles.length)
  expect(titles.length).toBeGreaterThanOrEqual(80)
})
