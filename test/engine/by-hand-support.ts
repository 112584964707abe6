import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { NO_VALUE, type ByHandCase } from '../by-hand/case.ts'
import { createRepository, startGitHttp, type FileSpec, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { never, openBench, type Bench } from './engine-support.ts'
import { endOf, fetchFrom } from './live.ts'

/** Two builds next to others', which compile a standard library or install a package manager; longer is a hang. */
const CASE_LIMIT_MS = 600_000
const START_LIMIT_MS = 60_000
const PORT = '3000'
const MEMORY_BYTES = 512 * 1024 * 1024
/** The numbers of addresses that the engine gives to nothing else. */
const FIRST_ADDRESS = 20

/** A server that builds several trees at a time, and an engine to do by hand what it should do. */
export class Comparison {
  readonly #server: TestServer
  readonly #remote: GitRemote
  readonly #bench: Bench
  #cases = 0

  private constructor(server: TestServer, remote: GitRemote, bench: Bench) {
    this.#server = server
    this.#remote = remote
    this.#bench = bench
  }

  static async open(): Promise<Comparison> {
    const server = await startServer({ engine: true, flags: ['--build-concurrency', '3'] })
    return new Comparison(server, await startGitHttp(), await openBench())
  }

  async close(): Promise<void> {
    await this.#remote.close()
    await this.#server.stop()
    await this.#bench.close()
  }

  /** What `GET /` answers, built by hand and deployed; a deploy that fails answers with why. */
  async answers(one: ByHandCase): Promise<{ byHand: string; deployed: string }> {
    const number = ++this.#cases
    const [byHand, deployed] = await Promise.all([this.#doByHand(one, number), this.#deploy(one, number)])
    // Two programs that fail in the same way would be equal.
    if (byHand.startsWith(NO_VALUE)) throw new Error(`by hand there is ${byHand}`)
    return { byHand, deployed }
  }

  async #deploy(one: ByHandCase, number: number): Promise<string> {
    const name = `case-${number}`
    const repo_url = this.#remote.url(await createRepository(Object.fromEntries(filesOf(one))))
    const created = await this.#server.api('POST', '/services', { name, repo_url, ...one.fields })
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    const { status, error } = await endOf(this.#server, created.body.latest_deploy.id, CASE_LIMIT_MS)
    const answer =
      status === 'live' ? (await fetchFrom(this.#server, `${name}.localhost`)).text : `${status}: ${error}`
    await this.#server.api('DELETE', `/services/${name}`)
    return answer
  }

  async #doByHand(one: ByHandCase, number: number): Promise<string> {
    const bench = this.#bench
    const said: string[] = []
    const tag = `${bench.serverId}:by-hand-${number}`
    const options = {
      tag,
      dockerfile: 'Dockerfile',
      signal: never(),
      onLine: (line: string) => said.push(line),
    }
    await bench.engine.images.build(contextOf(one), options).catch((cause: unknown) => {
      throw new Error(`by hand it is not built:\n${said.slice(-30).join('\n')}`, { cause })
    })
    const address = `${bench.prefix}${FIRST_ADDRESS + number}`
    const { command: _none, ...spec } = bench.spec('', { image: tag, address, memoryBytes: MEMORY_BYTES })
    await bench.engine.containers.create({ ...spec, env: { PORT } })
    await bench.engine.containers.start(spec.name)
    const ask = (): Promise<string> => fetch(`http://${address}:${PORT}/`).then((response) => response.text())
    try {
      return await waitFor(ask, 'the answer of what was built by hand', START_LIMIT_MS)
    } finally {
      await bench.engine.containers.remove(spec.name)
    }
  }
}

/** One test for each case of a kind; all but the chosen ones only run with all tests. */
export function compareAll(kind: string, cases: ByHandCase[], comparison: () => Comparison): void {
  for (const one of cases) {
    const tags = one.isFirst ? [] : ['slow']
    test.concurrent(`${kind}: ${one.title}`, { tags, timeout: CASE_LIMIT_MS }, async () => {
      const { byHand, deployed } = await comparison().answers(one)
      expect(deployed).toBe(byHand)
    })
  }
}

type FullSpec = Exclude<FileSpec, string>

function filesOf({ files, executable = [] }: ByHandCase): [string, FullSpec][] {
  return Object.entries(files).map(([name, content]) => [
    name,
    {
      content: typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
      mode: executable.includes(name) ? 0o755 : 0o644,
    },
  ])
}

/** The tree is in a folder of its own, whose `.dockerignore` is an ordinary file. */
const TREE = 'tree'

function contextOf(one: ByHandCase): Readable {
  const tar = pack()
  tar.entry({ name: 'Dockerfile' }, dockerfileOf(one))
  for (const [name, { content, mode }] of filesOf(one))
    tar.entry({ name: posix.join(TREE, name), mode }, content)
  tar.finalize()
  return tar as unknown as Readable
}

/** In a shell's form, since no command has a line's end or a backslash before one. */
function dockerfileOf({ place, commands, start }: ByHandCase): string {
  return [
    `FROM ${place.image}`,
    ...place.packages.map((name) => `RUN npm install --global ${name}`),
    'WORKDIR /app',
    `COPY ${TREE} ./`,
    `RUN ${commands}`,
    `CMD ${start}`,
    '',
  ].join('\n')
}
