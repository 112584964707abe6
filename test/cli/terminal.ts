import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { CLIENT, COMPILED, type Place } from './client.ts'

interface TerminalOptions {
  columns?: number
  /** Typed when a question stands at the end of what was printed. */
  answer?: string
  cwd?: string
}

/** Runs the client in a terminal of its own and resolves with its exit code and what the terminal showed. */
export function onTerminal(
  place: Place,
  { columns = 80, answer, cwd = tmpdir() }: TerminalOptions,
  ...words: string[]
): Promise<{ code: number; shown: string }> {
  const command = [process.execPath, CLIENT, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  const child = spawn('script', ['-qec', `stty cols ${columns}; exec ${command.join(' ')}`, '/dev/null'], {
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...COMPILED,
      PATH: process.env.PATH,
      TERM: 'xterm',
      NO_COLOR: '1',
      HOME: tmpdir(),
      DEPLOYER_HOST: place.url,
      DEPLOYER_TOKEN: place.token,
    },
  })
  let shown = ''
  let isAnswered = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    // A question, behind which the terminal's cursor is placed.
    const isAsking = /[?:\]] (?:\u001b\[\d+G)?$/.test(shown)
    if (answer === undefined || isAnswered || !isAsking) return
    isAnswered = true
    child.stdin.write(`${answer}\n`)
  })
  return new Promise((resolve) => {
    child.once('close', (code) => {
      child.stdin.destroy()
      resolve({ code: code ?? -1, shown: shown.replaceAll('\r\n', '\n') })
    })
  })
}
