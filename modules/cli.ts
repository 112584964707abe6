import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { defineNitroModule } from 'nitropack/kit'
import { pack } from 'tar-stream'

/** What a laptop downloads. */
const MAX_PACKED_BYTES = 1024 * 1024
const PROGRAM_MODE = 0o755
const FILE_MODE = 0o644
/** The date of the files in every package of npm, so that the same files make the same package. */
const PACKED_AT = new Date('1985-10-26T08:15:00Z')
/** The file that is run, which any node can read, and what it loads. */
const PROGRAM = 'deployer.mjs'
const MAIN = 'main'
/** The oldest node that the client runs on: from 24.5 on it keeps to `HTTPS_PROXY`. */
const OLDEST_NODE: [major: number, minor: number] = [24, 7]

/** The content of a package's files, by their paths. */
type Files = Map<string, Uint8Array>

/**
 * Builds the client, `deployer` on a laptop. `cli/` of the output has its files; `cli.tgz`, next to the server's program, is the
 * package of them that the server hands out.
 */
export default defineNitroModule({
  name: 'cli',
  setup(nitro) {
    const { rootDir, output } = nitro.options
    nitro.hooks.hook('compiled', async () => {
      const files = await clientOf(rootDir)
      for (const [path, content] of files) {
        const file = join(output.dir, 'cli', path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, content, { mode: modeOf(path) })
      }
      const packed = await packageOf(files)
      if (packed.length > MAX_PACKED_BYTES)
        throw new Error(`the client has ${packed.length} bytes packed; it may have ${MAX_PACKED_BYTES}`)
      writeFileSync(join(output.serverDir, 'cli.tgz'), packed)
    })
  },
})

/** All files of the client of the project in `root`. */
async function clientOf(root: string): Promise<Files> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [{ in: 'cli/client.ts', out: MAIN }],
    outdir: 'out',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    // A command loads its own part and no other.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: 'const require = process.getBuiltinModule;' },
    // Else these would be looked for in folders of the user: native code that speeds ws up.
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  const out = join(root, 'out')
  const files: Files = new Map(
    outputFiles.map(({ path, contents }) => [path.slice(out.length + 1), contents]),
  )
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  files.set(PROGRAM, Buffer.from(PROGRAM_TEXT))
  files.set('package.json', Buffer.from(`${JSON.stringify(clientManifest(manifest), null, 2)}\n`))
  files.set('skill/SKILL.md', readFileSync(join(root, 'docs/skill/SKILL.md')))
  files.set('LICENSE', readFileSync(join(root, 'LICENSE')))
  files.set('THIRD-PARTY-LICENSES', Buffer.from(licensesOf(root, Object.keys(metafile.inputs))))
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Says in one line that node is too old, before any syntax that it does not know is read. */
const PROGRAM_TEXT = `#!/usr/bin/env node
var node = process.versions.node.split('.').map(Number)
if (node[0] > ${OLDEST_NODE[0]} || (node[0] === ${OLDEST_NODE[0]} && node[1] >= ${OLDEST_NODE[1]})) import('./${MAIN}.mjs')
else {
  process.stderr.write('deployer: it needs Node ${OLDEST_NODE.join('.')} or newer, and this is ' + process.versions.node + '\\n')
  process.exitCode = 1
}
`

interface Manifest {
  version: string
  license: string
}

function clientManifest({ version, license }: Manifest): object {
  return {
    name: 'deployer-cli',
    version,
    description: 'The command line of Deployer, a self-hosted deployment server',
    license,
    type: 'module',
    bin: { deployer: PROGRAM },
    engines: { node: `>=${OLDEST_NODE.join('.')}` },
  }
}

/** The licenses of the packages that are part of the bundle, which ask to be passed on with it. */
function licensesOf(root: string, inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  )
  const texts = [...folders].toSorted().flatMap((folder) => {
    const file = readdirSync(join(root, folder)).find((name) => /^licen[cs]e/i.test(name))
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return file === undefined ? [] : [`${name}\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`]
  })
  return texts.join(`\n${'-'.repeat(40)}\n\n`)
}

/** The files as a package of npm, the same bytes for the same files. */
async function packageOf(files: Files): Promise<Buffer> {
  const archive = pack()
  for (const [path, content] of files)
    archive.entry({ name: `package/${path}`, mode: modeOf(path), mtime: PACKED_AT }, Buffer.from(content))
  archive.finalize()
  return gzipSync(await buffer(archive), { level: 9 })
}

function modeOf(path: string): number {
  return path === PROGRAM ? PROGRAM_MODE : FILE_MODE
}
