import { execFile } from 'node:child_process'
import type { TxtProvider } from './txt-provider.ts'

/** A program may wait until its provider has distributed the record. */
const PROGRAM_MS = 5 * 60_000
/** Limit of its output, from which the reason of a failure is taken. */
const MAX_OUTPUT_BYTES = 64 * 1024

/** Runs a program of the administrator with the arguments `present` or `cleanup`, the record's name and its value. */
export class ExecProvider implements TxtProvider {
  readonly #program: string

  constructor(program: string) {
    this.#program = program
  }

  present(name: string, value: string): Promise<void> {
    return this.#call('present', name, value)
  }

  cleanUp(name: string, value: string): Promise<void> {
    return this.#call('cleanup', name, value)
  }

  #call(action: string, name: string, value: string): Promise<void> {
    return new Promise((resolve, reject) => {
      execFile(
        this.#program,
        [action, name, value],
        { timeout: PROGRAM_MS, maxBuffer: MAX_OUTPUT_BYTES, env: programEnvironment() },
        (error, _stdout, stderr) => {
          if (!error) return resolve()
          const reason = stderr.trim() || error.message
          reject(new Error(`${this.#program} ${action} failed: ${reason}`, { cause: error }))
        },
      )
    })
  }
}

/** Returns the server's environment, which has the program's credentials, without the server's own settings. */
function programEnvironment(): NodeJS.ProcessEnv {
  const isServers = (name: string) => name.startsWith('DEPLOYER_') && !name.startsWith('DEPLOYER_ACME_DNS_')
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isServers(name)))
}
