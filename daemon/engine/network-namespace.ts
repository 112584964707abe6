import { readFile } from 'node:fs/promises'

/**
 * Whether a process of this host belongs to a container. The engine may run elsewhere, where this process id is that of the
 * container. Throws when there is no such process.
 */
export async function isProcessOf(pid: number, containerId: string): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes(containerId)
}

/** The file of the network namespace of a container whose first process is `pid`; null if it cannot be entered from here. */
export async function namespaceOf(pid: number, containerId: string): Promise<string | null> {
  const isThere = await isProcessOf(pid, containerId).catch(() => false)
  return isThere ? `/proc/${pid}/ns/net` : null
}
