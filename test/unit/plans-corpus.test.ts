import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DENO_AND_BUN } from '../corpus/deno-bun.ts'
import { DOTNET } from '../corpus/dotnet.ts'
import { ELIXIR } from '../corpus/elixir.ts'
import { GO } from '../corpus/go.ts'
import { GO_EMBEDDED } from '../corpus/go-embedded.ts'
import { HOST_FILES } from '../corpus/host-files.ts'
import { JAVA } from '../corpus/java.ts'
import { NATIVE } from '../corpus/native.ts'
import { NODE_FRAMEWORKS } from '../corpus/node-frameworks.ts'
import { NODE_FOR_OTHER_HOSTS } from '../corpus/node-other-hosts.ts'
import { NODE_PACKAGES } from '../corpus/node-packages.ts'
import { NODE_PROGRAMS } from '../corpus/node-programs.ts'
import { NODE_SCRIPTS } from '../corpus/node-scripts.ts'
import { NODE_SITES } from '../corpus/node-sites.ts'
import { NODE_VERSIONS } from '../corpus/node-versions.ts'
import { NODE_WORKSPACES } from '../corpus/node-workspaces.ts'
import { OUTSIDE } from '../corpus/outside.ts'
import { PHP } from '../corpus/php.ts'
import { PHP_VERSIONS } from '../corpus/php-versions.ts'
import { PINS, REFUSED_PINS } from '../corpus/pins.ts'
import { PROCFILES } from '../corpus/procfiles.ts'
import { PYTHON_BOTS } from '../corpus/python-bots.ts'
import { DJANGO } from '../corpus/python-django.ts'
import { PYTHON_PACKAGES } from '../corpus/python-packages.ts'
import { PYTHON_SERVERS } from '../corpus/python-servers.ts'
import { PYTHON_SITES } from '../corpus/python-sites.ts'
import { RUBY } from '../corpus/ruby.ts'
import { RUST } from '../corpus/rust.ts'
import { STATIC_SITES } from '../corpus/static-sites.ts'
import type { CorpusTree } from '../corpus/tree.ts'
import { PlannedTree } from '../support/planned-tree.ts'

let tree: PlannedTree
beforeEach(async () => void (tree = await PlannedTree.make()))
afterEach(() => tree.remove())

const CORPUS: [group: string, trees: CorpusTree[]][] = [
  ['a program of node', NODE_PROGRAMS],
  ['scripts of node', NODE_SCRIPTS],
  ['a framework of node', NODE_FRAMEWORKS],
  ['a front end', NODE_SITES],
  ['a workspace of node', NODE_WORKSPACES],
  ['packages of node', NODE_PACKAGES],
  ['a version of node', NODE_VERSIONS],
  ['node for another host', NODE_FOR_OTHER_HOSTS],
  ['Deno and Bun', DENO_AND_BUN],
  ['a program of Python', PYTHON_SERVERS],
  ['Django', DJANGO],
  ['a bot of Python', PYTHON_BOTS],
  ['packages of Python', PYTHON_PACKAGES],
  ['documentation by Python', PYTHON_SITES],
  ['Ruby', RUBY],
  ['PHP', PHP],
  ['a version of PHP', PHP_VERSIONS],
  ['Go', GO],
  ['Go with embedded pages', GO_EMBEDDED],
  ['Rust', RUST],
  ['Java, Scala and Clojure', JAVA],
  ['.NET', DOTNET],
  ['Elixir and Gleam', ELIXIR],
  ['C, C++ and shell', NATIVE],
  ['a site by one program', STATIC_SITES],
  ['with files outside of its folder', OUTSIDE],
  ['with a Procfile', PROCFILES],
  ['with a file for another host', HOST_FILES],
  ['a pinned version', PINS],
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
