import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { GIT_CREDENTIALS_FD, GIT_IS_MISSING, type GitOrder } from './sources/git-lifeline.ts'

const OUTPUT = 1
const MESSAGES = 2

/**
 * Runs one git command after another with this program's streams, and writes a mark to them where each ends. It leads a
 * process group and kills all of it when its channel closes: otherwise git and its children would outlive a killed server.
 */
process.on('message', ({ program, arguments: words, environment, mark }: GitOrder) => {
  const end = (code: number): void => {
    for (const stream of [OUTPUT, MESSAGES]) writeSync(stream, `${mark}${code}\n`)
  }
  const git = spawn(program, words, {
    env: environment,
    stdio: ['ignore', OUTPUT, MESSAGES, 'ignore', GIT_CREDENTIALS_FD],
  })
  git.once('error', (error: NodeJS.ErrnoException) => {
    writeSync(MESSAGES, error.message)
    end(error.code === 'ENOENT' ? GIT_IS_MISSING : 1)
  })
  git.once('exit', (code, signal) => end(code ?? 128 + constants.signals[signal!]))
})
process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
