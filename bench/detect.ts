// Measures detection in a cloned repository of 50,000 files: the same job that deploys run.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_SETTINGS } from '#plans/index.ts'
import { CHOOSE_RECIPE } from '../daemon/builds/reader-calls.ts'
import { withReader } from '../daemon/reader/reader.ts'
import { REMOVE_TREE } from '../daemon/sources/reader-calls.ts'
import { useBuiltReader } from '../test/support/reader.ts'
import { median } from './lib/figures.ts'

const ROUNDS = 7
const FOLDERS = 500
const FILES_IN_EACH = 100

const directory = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
const manifest = {
  scripts: { build: 'next build', start: 'next start' },
  dependencies: { next: '15.0.0', react: '19.0.0' },
  engines: { node: '>=20' },
}
writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: {} }))
for (let folder = 0; folder < FOLDERS; folder++) {
  const path = join(directory, 'packages', `part-${folder}`, 'src')
  mkdirSync(path, { recursive: true })
  for (let file = 0; file < FILES_IN_EACH; file++) writeFileSync(join(path, `file-${file}.ts`), 'export {}\n')
}

await useBuiltReader()
const choice = {
  type: null,
  runtime: 'auto',
  dockerfilePath: null,
  publishDirectory: null,
  settings: NO_SETTINGS,
}
const times: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  await withReader(undefined, async (reader) => {
    // The process starts while git clones.
    await reader.ask(REMOVE_TREE, { directory: join(directory, 'none') })
    const began = performance.now()
    await reader.ask(CHOOSE_RECIPE, { place: { directory, folder: '' }, choice })
    times.push(performance.now() - began)
  })
}
rmSync(directory, { recursive: true })
console.log(
  `detection of ${FOLDERS * FILES_IN_EACH} files   median ${median(times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms (aim: under 1,000 ms)`,
)
