import { constants } from 'node:fs'
import { access, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { LOST_AND_FOUND, OPEN_TO_OTHERS } from '#server/data-directory.ts'
import { failed, listed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'

/** Files that hold secrets, or what opens them. */
const SECRET_FILES = ['deployer.db', 'secret.key', 'api_token', 'setup_code']

export const dataDirectory: Check = {
  id: 'data_directory',
  title: 'Data directory',
  fix: 'See whether the file system of the data directory answers (ls, dmesg).',
  async look({ options, world }) {
    const path = options.dataDirectory
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => error)
    if (found instanceof Error)
      return found.code === 'ENOENT'
        ? skipped(`${path} does not exist: no server has used it yet`)
        : failed(`${path} cannot be read (${found.code})`, "Run this as the server's user.")
    const entries = await entriesOf(path)
    return worstOf([
      passed(`${path} is writable and closed to others`),
      ...judgeModes(path, found.mode, entries),
      ...judgeOwners(path, found.uid, entries, world === null ? null : process.geteuid!()),
      ...(await judgeWritable(path)),
    ])
  },
}

/** Something in the data directory itself. */
interface Entry {
  name: string
  mode: number
  uid: number
}

/** What is in the data directory. Others' `lost+found` belongs to the file system. */
async function entriesOf(path: string): Promise<Entry[]> {
  const names = (await readdir(path)).filter((name) => name !== LOST_AND_FOUND)
  const found = await Promise.all(
    names.map(async (name) => {
      // Temporary files come and go.
      const stats = await lstat(join(path, name)).catch(() => null)
      return stats ? [{ name, mode: stats.mode, uid: stats.uid }] : []
    }),
  )
  return found.flat()
}

export function judgeModes(path: string, mode: number, entries: readonly Entry[]): Verdict[] {
  const open = entries.filter(
    (entry) => SECRET_FILES.includes(entry.name) && (entry.mode & OPEN_TO_OTHERS) !== 0,
  )
  const isOpen = (mode & OPEN_TO_OTHERS) !== 0
  const names = listed(open.map(({ name }) => name))
  if (isOpen)
    return [
      failed(
        `others can read ${path} (mode ${octal(mode)})${names && `, and in it ${names}`}`,
        `chmod 700 ${path}`,
      ),
    ]
  if (open.length === 0) return []
  return [
    warning(
      `only the mode of ${path} keeps others from ${names}`,
      `chmod 600 ${open.map(({ name }) => join(path, name)).join(' ')}`,
    ),
  ]
}

export function judgeOwners(
  path: string,
  uid: number,
  entries: readonly Entry[],
  serverUid: number | null,
): Verdict[] {
  const foreign = entries.filter((entry) => entry.uid !== uid)
  const verdicts: Verdict[] = []
  if (serverUid !== null && serverUid !== uid)
    verdicts.push(
      warning(
        `${path} belongs to user ${uid}, but the server runs as user ${serverUid}`,
        `Run the server as the owner, or stop it and chown -R ${serverUid} ${path}.`,
      ),
    )
  if (foreign.length > 0)
    verdicts.push(
      warning(
        `${listed(foreign.map(({ name }) => name))} in ${path} belong to another user than ${uid}, who owns the directory`,
        `chown -R ${uid} ${path}`,
      ),
    )
  return verdicts
}

async function judgeWritable(path: string): Promise<Verdict[]> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return []
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return [
      failed(
        `${path} cannot be written (${code})`,
        code === 'EROFS'
          ? 'The file system is read-only: dmesg says why; repair it, or mount it again with write access.'
          : "Run the server as the directory's owner.",
      ),
    ]
  }
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}
