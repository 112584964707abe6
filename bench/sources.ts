// Measures the source step of a deploy for a repository of 500 MiB: the first time, unchanged, and with one changed file.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withReader } from '../daemon/reader/reader.ts'
import { checkout } from '../daemon/sources/git.ts'
import { REMOVE_TREE } from '../daemon/sources/reader-calls.ts'
import { ANYWHERE, Repository, startRemotes } from '../test/git/remotes.ts'
import { useBuiltReader } from '../test/support/reader.ts'
import { median } from './lib/figures.ts'

const ROUNDS = 5
const FILES = 4_000
const FILE_BYTES = 128 * 1024
const FILES_IN_FOLDER = 100

await useBuiltReader()
const home = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
const remotes = await startRemotes()
try {
  const source = new Repository(remotes, 'large')
  // Half of it does not compress, half is like source code.
  const word = (): string => randomBytes(6).toString('base64')
  const words = Array.from({ length: 2_000 }, word)
  for (let index = 0; index < FILES; index++) {
    const folder = join(source.work, `part-${Math.floor(index / FILES_IN_FOLDER)}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `file-${index}`), index % 2 === 0 ? randomBytes(FILE_BYTES) : text())
  }
  source.push({ changing: '0' })

  const first = await sourceStep()
  const unchanged: number[] = []
  const changed: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    unchanged.push(await sourceStep())
    source.push({ changing: String(round) })
    changed.push(await sourceStep())
  }
  const megabytes = Math.round((FILES * FILE_BYTES) / 1024 ** 2)
  const figures = (times: number[]): string =>
    `median ${median(times).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms`
  console.log(`source step of ${megabytes} MiB in ${FILES} files, first deploy   ${first.toFixed(0)} ms`)
  console.log(`the same, unchanged        ${figures(unchanged)} (aim: under 1,000 ms)`)
  console.log(`the same, one file changed ${figures(changed)} (aim: under 2,000 ms)`)

  function text(): string {
    let written = ''
    while (written.length < FILE_BYTES) written += `${words[Math.floor(Math.random() * words.length)]!} `
    return written.slice(0, FILE_BYTES)
  }
} finally {
  await remotes.close()
  rmSync(home, { recursive: true, force: true })
}

/** Returns the time from the start of git to the tree that a build reads. */
async function sourceStep(): Promise<number> {
  return await withReader(undefined, async (reader) => {
    const directory = join(home, 'tree')
    // The process starts while the deploy is prepared.
    await reader.ask(REMOVE_TREE, { directory })
    const began = performance.now()
    await checkout({
      url: `${remotes.http}/large.git`,
      branch: null,
      commit: null,
      confined: false,
      usesKeptTrees: true,
      directory,
      mirrors: join(home, 'mirrors'),
      holder: '',
      reader,
      reach: ANYWHERE,
      sshKeyFile: remotes.sshKeyFile,
      knownHostsFile: join(home, 'known hosts'),
      signal: new AbortController().signal,
      onLine: () => {},
    })
    return performance.now() - began
  })
}
