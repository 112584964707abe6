import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

/** A page whose commands take longer hangs. */
const PAGE_LIMIT_MS = 240_000
/** The page whose example covers most of the product. */
const FIRST = 'services.md'
const DOCS = new URL('../../docs/', import.meta.url)

/** A command of a page, and its expected output, in which `...` stands for anything. */
interface Step {
  command: string
  shown: string
}

/** The commands in a page's `console` blocks: a line after `$ `, continued after `> `, then its output. */
function stepsOf(page: string): Step[] {
  const steps: Step[] = []
  for (const [, block] of page.matchAll(/^```console\n([^]*?)^```/gm)) {
    for (const line of block!.trimEnd().split('\n')) {
      const last = steps.at(-1)
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), shown: '' })
      else if (line.startsWith('> ') && last?.shown === '') last.command += `\n${line.slice(2)}`
      else if (last) last.shown += `${line}\n`
    }
  }
  return steps
}

const pages = readdirSync(DOCS)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, steps: stepsOf(readFileSync(new URL(name, DOCS), 'utf8')) }))
  .filter(({ steps }) => steps.length > 0)

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
})
afterAll(() => server?.stop())

test('there are worked examples', () => {
  expect(pages.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'data-plane.md',
      'disks.md',
      'environments.md',
      'jobs.md',
      'limits.md',
      'services.md',
      'static-sites.md',
      'variables.md',
    ]),
  )
})

const [first, ...others] = pages.toSorted(
  (one, other) => Number(other.name === FIRST) - Number(one.name === FIRST),
)

test(`the worked example of docs/${FIRST} does what it shows`, { timeout: PAGE_LIMIT_MS }, () =>
  follow(first!),
)

test.each(others)(
  'the worked example of docs/$name does what it shows',
  { timeout: PAGE_LIMIT_MS, tags: ['slow'] },
  follow,
)

/** Runs the commands of a page, and compares their output with what the page shows. */
async function follow({ steps }: (typeof pages)[number]): Promise<void> {
  const shell = new Shell(server)
  try {
    for (const { command, shown } of steps) {
      const printed = await shell.run(command)
      expect(printed, `$ ${command}`).toMatch(patternOf(shown))
    }
  } finally {
    shell.close()
  }
}

/** One bash per page, in a folder of its own, as its reader has it. */
class Shell {
  readonly #folder = mkdtempSync(join(tmpdir(), 'deployer-docs-'))
  readonly #process
  #printed = ''
  #changed = () => {}

  constructor({ url, token, httpPort }: TestServer) {
    this.#process = spawn('bash', ['--norc'], {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, API: `${url}/api/v1`, TOKEN: token, WEB: `127.0.0.1:${httpPort}` },
    })
    const take = (text: Buffer): void => {
      this.#printed += text.toString()
      this.#changed()
    }
    this.#process.stdout.on('data', take)
    this.#process.stderr.on('data', take)
    this.#process.on('exit', () => this.#changed())
  }

  /** Runs a command and returns its output. */
  async run(command: string): Promise<string> {
    this.#printed = ''
    const end = `end-${Math.random().toString(36).slice(2)}`
    this.#process.stdin.write(`${command}\necho; echo ${end}\n`)
    while (!this.#printed.includes(`\n${end}`)) {
      if (this.#process.exitCode !== null) throw new Error(`the shell ended: ${this.#printed}`)
      await new Promise<void>((resolve) => (this.#changed = resolve))
    }
    return this.#printed.slice(0, this.#printed.indexOf(`\n${end}`)).trim()
  }

  close(): void {
    this.#process.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function patternOf(shown: string): RegExp {
  const parts = shown
    .trim()
    .split('...')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`)
}
