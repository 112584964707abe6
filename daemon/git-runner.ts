import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import { GIT_CREDENTIALS_FD, GIT_IS_MISSING, GIT_LIFELINE_FD } from './sources/git-lifeline.ts'

/**
 * Runs git with this program's arguments, environment and streams, and ends as git does. It leads a process group that it
 * kills whole when its lifeline closes: git, and what git started, would go on after a server that was killed.
 */
const git = spawn('git', process.argv.slice(2), {
  stdio: ['ignore', 'inherit', 'inherit', 'ignore', GIT_CREDENTIALS_FD],
})
git.once('error', (error: NodeJS.ErrnoException) => {
  process.stderr.write(error.message)
  process.exit(error.code === 'ENOENT' ? GIT_IS_MISSING : 1)
})
git.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal!]))
new Socket({ fd: GIT_LIFELINE_FD })
  .resume()
  .on('error', () => {})
  .once('close', () => process.kill(-process.pid, 'SIGKILL'))
