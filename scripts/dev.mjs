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

  /** @type {import('node:child_process').ChildProcess | null} */
  let server = null
  let busy = false
  let again = false
  let ending = false
  let served = ''

  const refresh = async () => {
    if (busy) {
      again = true
      return
    }
    busy = true
    do {
      again = false
      const sources = hashSources()
      if (sources === served) continue
      // A build error is printed and waits for the next change; the last good build keeps running.
      const entry = await ensureBuild(node, BUILD).catch((/** @type {Error} */ error) => say(error.message))
      if (!entry || ending) continue
      served = sources
      await endServer()
      server = spawn(node, [entry, 'serve', ...flags], { stdio: 'inherit' })
      say(`http://${listen} (data in ${dataDirectory})`)
    } while (again && !ending)
    busy = false
  }

  const endServer = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  }

  const end = async () => {
    if (ending) return
    ending = true
    await endServer()
    const entry = join(BUILD, 'server/index.mjs')
    if (existsSync(entry)) await capture(node, [entry, 'stop', '--all', '--data-dir', dataDirectory])
    rmSync(dataDirectory, { recursive: true, force: true })
    process.exit(0)
  }

  process.on('SIGINT', () => void end())
  process.on('SIGTERM', () => void end())
  await refresh()
  /** @type {NodeJS.Timeout | undefined} */
  let settling
  const onChange = () => {
    clearTimeout(settling)
    settling = setTimeout(() => void refresh(), SETTLE_MS)
  }
  for (const source of SOURCES.map((path) => join(ROOT, path)).filter((path) => existsSync(path))) {
    watch(source, { recursive: statSync(source).isDirectory() }, onChange)
  }
})

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  probe.close()
  return port
}
