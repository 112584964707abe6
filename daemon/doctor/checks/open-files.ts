import { readFile, readdir } from 'node:fs/promises'
import { failed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'
import type { Facts } from '../facts.ts'

/** Shares of a limit that are left. */
const WARNING_LEFT = 0.15
const FAILED_LEFT = 0.05
/** Two for each request that is relayed, so that a thousand clients are no trouble. */
const FEW = 4_096

const RAISE =
  'Raise it: systemctl edit deployer-proxy (or deployer) with LimitNOFILE=524288 under [Service], then systemctl stop and start that unit. Without systemd: ulimit -Hn 524288 before the start.'

/** A process of the server, with its files. */
interface Opener {
  name: string
  used: number
  limit: number
}

export const openFiles: Check = {
  id: 'open_files',
  title: 'Open files',
  fix: RAISE,
  async look(facts) {
    const openers = (await Promise.all((await processesOf(facts)).map(openerOf))).flat()
    if (openers.length === 0) return skipped('no process of the server can be looked at')
    return worstOf(openers.map(judgeOpener))
  },
}

export function judgeOpener({ name, used, limit }: Opener): Verdict {
  const text = `${name}: ${used} of ${limit} files are open`
  const left = 1 - used / limit
  if (left < FAILED_LEFT) return failed(text, RAISE)
  if (left < WARNING_LEFT) return warning(text, RAISE)
  return limit < FEW ? warning(`${name} may open only ${limit} files`, RAISE) : passed(text)
}

/** The control plane, the supervisor of the data plane and its workers. */
async function processesOf(facts: Facts): Promise<{ name: string; pid: number }[]> {
  const hello = await facts.dataPlane().catch(() => null)
  const control = facts.world === null ? [] : [{ name: 'control plane', pid: process.pid }]
  if (!hello) return control
  const { pid } = hello
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '')
  const workers = children.split(' ').filter((word) => word !== '')
  return [
    ...control,
    { name: 'data plane', pid },
    ...workers.map((worker, index) => ({ name: `worker ${index + 1}`, pid: Number(worker) })),
  ]
}

/** Nothing where /proc does not say, or not to this user. */
async function openerOf({ name, pid }: { name: string; pid: number }): Promise<Opener[]> {
  try {
    const [limits, files] = await Promise.all([
      readFile(`/proc/${pid}/limits`, 'latin1'),
      readdir(`/proc/${pid}/fd`),
    ])
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
    return soft === undefined ? [] : [{ name, used: files.length, limit: Number(soft) || Infinity }]
  } catch {
    return []
  }
}
