// npm run dev: a server on a throw-away data directory, rebuilt and restarted when a source changes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, watch } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuild, hashSources, SOURCES } from './lib/build.mjs'
import { runInstead, capture } from './lib/command.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { run, say } from './lib/say.mjs'

/** Editors write several files at once, some of them twice. */
const SETTLE_MS = 150
const BUILD = join(ROOT, '.cache/dev')

run(async () => {
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(await missingPackages(node), { mayInstall: true })
  // Watching folders recursively needs a newer node than the oldest one that may run this.
  if (node !== process.execPath) return runInstead(node, process.argv.slice(1))
  const dataDirectory = mkdtempSync(join(tmpdir(), 'deployer-dev-'))
  const listen = `127.0.0.1:${await freePort()}`
  const flags = [
    '--data-dir',
    dataDirectory,
    '--listen',
    listen,
    '--http-listen',
    `127.0.0.1:${await freePort()}`,
    '--https-listen',
    `127.0.0.1:${await freePort()}`,
  ]
  flags.push('--log-level', 'debug', ...process.argv.slice(2))
  const server = new RebuiltServer(node, flags, `http://${listen} (data in ${dataDirectory})`)
  const end = async () => {
    if (server.isEnding) return
    await server.end()
    await removeData(node, dataDirectory)
    process.exit(0)
  }
  process.on('SIGINT', () => void end())
  process.on('SIGTERM', () => void end())
  await server.refresh()
  watchSources(() => void server.refresh())
})

/** A server that runs the last good build of the sources. */
class RebuiltServer {
  #node
  #flags
  #greeting
  /** @type {import('node:child_process').ChildProcess | null} */
  #process = null
  #isBusy = false
  #again = false
  isEnding = false
  /** The hash of the sources that it runs. */
  #served = ''

  /**
   * @param {string} node
   * @param {string[]} flags
   * @param {string} greeting printed at each start
   */
  constructor(node, flags, greeting) {
    this.#node = node
    this.#flags = flags
    this.#greeting = greeting
  }

  /** Builds and restarts what changed; during a build, asks for another. */
  async refresh() {
    if (this.#isBusy) {
      this.#again = true
      return
    }
    this.#isBusy = true
    do {
      this.#again = false
      await this.#rebuild()
    } while (this.#again && !this.isEnding)
    this.#isBusy = false
  }

  async #rebuild() {
    const sources = hashSources()
    if (sources === this.#served) return
    // A build error is printed and waits for the next change; the last good build keeps running.
    const entry = await ensureBuild(this.#node, BUILD).catch((/** @type {Error} */ error) =>
      say(error.message),
    )
    if (!entry || this.isEnding) return
    this.#served = sources
    await this.#endProcess()
    this.#process = spawn(this.#node, [entry, 'serve', ...this.#flags], { stdio: 'inherit' })
    say(this.#greeting)
  }

  async end() {
    this.isEnding = true
    await this.#endProcess()
  }

  async #endProcess() {
    const server = this.#process
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  }
}

/**
 * Removes the data directory and what the server keeps running.
 *
 * @param {string} node
 * @param {string} dataDirectory
 */
async function removeData(node, dataDirectory) {
  const entry = join(BUILD, 'server/index.mjs')
  if (existsSync(entry)) await capture(node, [entry, 'stop', '--all', '--data-dir', dataDirectory])
  rmSync(dataDirectory, { recursive: true, force: true })
}

/** @param {() => void} onChange called once the sources have settled after a change */
function watchSources(onChange) {
  /** @type {NodeJS.Timeout | undefined} */
  let settling
  const settle = () => {
    clearTimeout(settling)
    settling = setTimeout(onChange, SETTLE_MS)
  }
  for (const source of SOURCES.map((path) => join(ROOT, path)).filter((path) => existsSync(path)))
    watch(source, { recursive: statSync(source).isDirectory() }, settle)
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  probe.close()
  return port
}
