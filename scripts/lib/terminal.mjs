import { spawn } from 'node:child_process'
import { ROOT } from './paths.mjs'
import { Refusal } from './say.mjs'

/**
 * Runs a program on this terminal.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
export function onTerminal(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit' })
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
      process.once(signal, () => process.stdin.isTTY || child.kill(signal))
    }
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

/**
 * Runs a program on this terminal, which must succeed.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {string} failure the message if it fails
 */
export async function mustRunOnTerminal(program, args, failure) {
  if ((await onTerminal(program, args)) !== 0) throw new Refusal(failure)
}
