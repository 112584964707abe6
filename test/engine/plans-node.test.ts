import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { never, openBench, type Bench } from './engine-support.ts'
import { buildPlanned } from './planned-image.ts'

let bench: Bench
let directory: string
let programs = 0
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'plans-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A first build installs packages from the registry; longer is a hang. */
const BUILD_LIMIT_MS = 240_000
const PORT = '8123'

/** Starts an image and sends one request, or runs a command in it and reads its output. */
async function answerOf(image: string): Promise<string> {
  const name = `${bench.serverId}-node-${++programs}`
  const address = `${bench.prefix}${60 + programs}`
  const { env, command: _none, ...spec } = bench.spec('', { name, image, address })
  await bench.engine.containers.create({ ...spec, env: { ...env, PORT } })
  await bench.engine.containers.start(name)
  const ask = (): Promise<string | null> =>
    fetch(`http://${address}:${PORT}/`, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.text(),
      () => null,
    )
  const text = await waitFor(ask, 'an answer').catch(async (cause: unknown) => {
    throw new Error(`no answer; the program said:\n${await logsOf(name)}`, { cause })
  })
  await bench.engine.containers.stop(name, 10)
  return text
}

async function outputOf(image: string, command: string[]): Promise<string> {
  const name = `${bench.serverId}-node-${++programs}`
  const address = `${bench.prefix}${60 + programs}`
  await bench.engine.containers.create(bench.spec('', { name, image, address, command }))
  await bench.engine.containers.start(name)
  await bench.engine.containers.wait(name, never())
  return await logsOf(name)
}

async function logsOf(name: string): Promise<string> {
  const lines: string[] = []
  for await (const entry of bench.engine.output.logs(name, { signal: AbortSignal.timeout(5_000) }))
    lines.push(entry.line)
  return lines.join('\n')
}

const json = (value: object): string => JSON.stringify(value)

const server = (text: string): string => `import { createServer } from 'node:http'
import ms from 'ms'
const text: string = '${text} ' + ms(60000)
createServer((_request, response) => response.end(text)).listen(Number(process.env.PORT), process.env.HOST)
`

const TYPESCRIPT = {
  'package.json': json({
    name: 'shop',
    type: 'module',
    scripts: {
      build:
        'esbuild src/index.ts --outfile=dist/index.js --platform=node --format=esm && mkdir -p node_modules/.cache/x',
      start: 'node dist/index.js',
    },
    dependencies: { ms: '2.1.3' },
    devDependencies: { esbuild: '0.25.0' },
  }),
  'src/index.ts': server('first'),
}

test(
  'a compiled program runs without its compiler, and a changed line installs nothing again',
  async () => {
    const first = await buildPlanned(bench, directory, TYPESCRIPT)
    expect(await answerOf(first.image)).toBe('first 1m')
    const packages = await outputOf(first.image, ['ls', '-A', 'node_modules'])
    expect(packages).toContain('ms')
    expect(packages).not.toContain('esbuild')
    expect(packages).not.toContain('.cache')
    const second = await buildPlanned(bench, directory, { ...TYPESCRIPT, 'src/index.ts': server('second') })
    expect(await answerOf(second.image)).toBe('second 1m')
    expect(first.log).toMatch(/added \d+ packages/)
    expect(second.log).not.toMatch(/added \d+ packages/)
  },
  2 * BUILD_LIMIT_MS,
)

const WORKSPACE = {
  'package.json': json({ private: true, workspaces: ['apps/*', 'packages/*'] }),
  'packages/words/package.json': json({
    name: '@shop/words',
    version: '1.0.0',
    main: 'built.js',
    scripts: {
      build: `node -e "require('fs').writeFileSync('built.js', 'module.exports = process.getuid()')"`,
    },
  }),
  'apps/web/package.json': json({
    name: 'web',
    scripts: { start: 'node server.js', build: 'node -e 0' },
    dependencies: { '@shop/words': '1.0.0' },
  }),
  'apps/web/server.js': `const words = require('@shop/words')
require('node:http').createServer((_, response) => response.end('hello from ' + words)).listen(process.env.PORT)
`,
}

test(
  'a package of a workspace is built with what it depends on, and finds it when it runs',
  async () => {
    const { plan, image } = await buildPlanned(bench, directory, WORKSPACE, {}, 'apps/web')
    expect(plan.needsWhole).toBe(true)
    expect(await answerOf(image)).toBe('hello from 1000')
  },
  BUILD_LIMIT_MS,
)

test(
  'install scripts see the code, and what they change in the packages stays',
  { tags: ['slow'], timeout: BUILD_LIMIT_MS },
  async () => {
    const { image } = await buildPlanned(bench, directory, {
      'package.json': json({
        scripts: { start: 'node server.js', postinstall: 'node patch.js' },
        dependencies: { ms: '2.1.3' },
        devDependencies: { wrappy: '1.0.2' },
      }),
      'patch.js': `require('fs').appendFileSync('node_modules/ms/index.js', ';module.exports = () => "patched"')`,
      'server.js': `const ms = require('ms')
require('node:http').createServer((_, response) => response.end(ms(1))).listen(process.env.PORT)
`,
    })
    expect(await answerOf(image)).toBe('patched')
    expect(await outputOf(image, ['ls', '-A', 'node_modules'])).not.toContain('wrappy')
  },
)

test(
  'Debian packages are available for the build and at run time',
  { tags: ['slow'], timeout: BUILD_LIMIT_MS },
  async () => {
    const { image, log } = await buildPlanned(bench, directory, {
      'package.json': json({ scripts: { start: 'node x.js', build: 'jq --version' } }),
      'x.js': '',
      Aptfile: 'jq\n',
    })
    expect(log).toContain('jq-1')
    expect(await outputOf(image, ['jq', '--version'])).toContain('jq-1')
  },
)
