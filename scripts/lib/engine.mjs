import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { request } from 'node:http'
import { capture, findCommand } from './command.mjs'
import { installPackages } from './packages.mjs'
import { Refusal, say } from './say.mjs'

const SOCKET = '/var/run/docker.sock'
const LOG_FILE = '/var/log/dockerd.log'
/** A first start creates the engine's folders and rules: 0.3 s on a small machine, some seconds on a busy one. */
const START_LIMIT_MS = 30_000
const PING_LIMIT_MS = 2_000
const PING_EVERY_MS = 100

/**
 * Makes sure that there is a container engine. One that was named or that answers is left alone, an installed one is
 * started, and if there is none, Docker is installed. If an installed engine does not answer, the server waits for it.
 *
 * @param {{ mayInstall: boolean, named: boolean }} options named: the user chose the engine
 */
export async function ensureEngine({ mayInstall, named }) {
  if (named || (await engineAnswers())) return
  if (!findCommand('dockerd')) {
    // A socket without an engine program belongs to an engine that is managed elsewhere.
    if (existsSync(SOCKET)) return say(`the engine at ${SOCKET} does not answer yet; the server keeps trying`)
    const packages = ['docker.io', ...(findCommand('iptables') ? [] : ['iptables'])]
    await installPackages(packages, { mayInstall }).catch((error) => {
      throw new Refusal(`there is no container engine. ${error.message}`)
    })
    // The package may have started it already.
    if (await engineAnswers()) return
  }
  await startEngine()
}

async function startEngine() {
  if (process.getuid?.() !== 0) {
    return say(
      'the container engine does not run: start it with sudo systemctl start docker; the server keeps trying',
    )
  }
  say('starting the container engine')
  // systemd(1): this folder exists if systemd is the init system.
  if (existsSync('/run/systemd/system')) await capture('systemctl', ['start', 'docker'])
  else startDetached()
  const deadline = performance.now() + START_LIMIT_MS
  while (!(await engineAnswers())) {
    if (performance.now() > deadline) {
      return say(`the container engine does not answer yet (its log: ${LOG_FILE}); the server keeps trying`)
    }
    await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS))
  }
}

/** Starts the engine so that it keeps running without this terminal. */
function startDetached() {
  mkdirSync('/var/log', { recursive: true })
  const log = openSync(LOG_FILE, 'a', 0o640)
  const child = spawn(findCommand('dockerd') ?? 'dockerd', [], {
    detached: true,
    stdio: ['ignore', log, log],
  })
  child.on('error', (error) => say(`the container engine could not be started: ${error.message}`))
  child.unref()
  closeSync(log)
}

/**
 * Whether an engine answers at the default socket. Its pid file would prove nothing, since it may be older than the last
 * boot.
 */
function engineAnswers() {
  return new Promise((resolve) => {
    const ping = request({ socketPath: SOCKET, path: '/_ping', timeout: PING_LIMIT_MS }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    ping.on('timeout', () => ping.destroy())
    ping.on('error', () => resolve(false))
    ping.end()
  })
}
