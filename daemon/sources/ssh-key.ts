import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#server/errors.ts'
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '#server/files.ts'

const run = promisify(execFile)

let creating: Promise<string> | undefined

/** Creates `ssh/id_ed25519` in the data directory if it is missing (mode 0600), and returns the public key's line. */
export async function ensureSshKey(dataDirectory: string): Promise<string> {
  // Two at once could leave the private key of one with the public key of the other.
  creating = (creating ?? Promise.resolve(''))
    .catch(() => '')
    .then(() => readOrCreate(join(dataDirectory, 'ssh')))
  return creating
}

async function readOrCreate(directory: string): Promise<string> {
  const key = join(directory, 'id_ed25519')
  const existing = await readPublicKey(key)
  if (existing !== null) return existing
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
  const fresh = `${key}.new`
  await rm(fresh, { force: true })
  await rm(`${fresh}.pub`, { force: true })
  try {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'deployer', '-f', fresh])
  } catch (cause) {
    const { code, stderr, message } = cause as NodeJS.ErrnoException & { stderr?: string }
    const why = code === 'ENOENT' ? 'install the package "openssh-client"' : stderr?.trim() || message
    throw new AppError('io_error', `ssh-keygen could not create the ssh key: ${why}`, { cause })
  }
  await chmod(fresh, PRIVATE_FILE_MODE)
  await rename(`${fresh}.pub`, `${key}.pub`)
  await rename(fresh, key)
  return (await readPublicKey(key))!
}

/** The public key of an existing private key; null if there is none. */
async function readPublicKey(key: string): Promise<string | null> {
  try {
    await readFile(key)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    return (await readFile(`${key}.pub`, 'utf8')).trim()
  } catch {
    return (await run('ssh-keygen', ['-y', '-f', key])).stdout.trim()
  }
}
