import { spawn } from 'node:child_process'
import { constants, accessSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Returns the file of a command, or null.
 *
 * @param {string} name
 * @returns {string | null}
 */
export function findCommand(name) {
  // The path of a user who runs npm often lacks the administrator folders of a login shell.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  for (const folder of folders.filter(Boolean)) {
    const file = join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not in this folder.
    }
  }
  return null
}

const CLIP_LINES = 40
const CLIP_CHARACTERS = 400

/**
 * Returns the end of a program's output, short enough to read: an error may quote whole files.
 *
 * @param {string} output
 */
export function clip(output) {
  const lines = output.trim().split('\n').slice(-CLIP_LINES)
  return lines
    .map((line) => (line.length > CLIP_CHARACTERS ? `${line.slice(0, CLIP_CHARACTERS)} ...` : line))
    .join('\n')
}

/**
 * Runs a program to its end and captures its output.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<{ code: number | null, output: string }>} code is null if it could not be started or was killed
 */
export function capture(file, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout?.on('data', (chunk) => (output += chunk))
    child.stderr?.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

/**
 * Runs a program on this terminal instead of this process: signals are passed on, and this process ends when it ends.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<never>}
 */
export function runInstead(file, args, options = {}) {
  return new Promise((_, reject) => {
    const child = spawn(file, args, { ...options, stdio: 'inherit' })
    // A terminal sends these to every process in its foreground, the child among them.
    const fromTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGHUP'] : []
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
      process.on(signal, () => fromTerminal.includes(signal) || child.kill(signal))
    }
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (!signal) process.exit(code ?? 1)
      for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
        process.removeAllListeners(name)
      process.kill(process.pid, signal)
    })
  })
}
