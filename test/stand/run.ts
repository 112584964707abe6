import { spawn } from 'node:child_process'

/** How much of a program's output is kept for the error message. */
const KEPT_OUTPUT_BYTES = 64 * 1024

export interface RunOptions {
  cwd?: string
  env?: Record<string, string | undefined>
  input?: string | Buffer
}

/** Runs a program to its end and returns its standard output. Throws with the end of its output when it fails. */
export function run(program: string, arguments_: string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, arguments_, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const out: Buffer[] = []
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => (printed = (printed + chunk).slice(-KEPT_OUTPUT_BYTES)))
    child.on('error', (error) => reject(new Error(`${program} cannot be run: ${error.message}`)))
    child.on('close', (code, signal) => {
      const text = Buffer.concat(out).toString()
      if (code === 0) return resolve(text)
      const how = signal ?? `exit code ${code}`
      reject(
        new Error(`${program} ${arguments_.join(' ')}: ${how}\n${printed || text.slice(-KEPT_OUTPUT_BYTES)}`),
      )
    })
    // A program that ends without reading its input closes the pipe; its exit code says enough.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input)
  })
}

/** A command that starts a program which is killed when this process ends, however it ends (PR_SET_PDEATHSIG(2const)). */
export function endsWithThis(command: readonly string[]): string[] {
  return ['setpriv', '--pdeathsig', 'KILL', '--', ...command]
}

/** Says what the stand does, on standard error. */
export function say(message: string): void {
  process.stderr.write(`test stand: ${message}\n`)
}
