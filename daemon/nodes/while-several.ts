import { onChange } from '#server/changes.ts'
import { hasOtherNodes } from '#server/nodes/store.ts'
import type { Task } from '../work/driver.ts'

/** How often a task for several nodes looks on a server of one, unless a node changes. */
const IDLE_MS = 3_600_000

/**
 * A task that has work only on a server of several nodes. On one of a single node it rests once it has succeeded, until a node
 * changes: `wake` runs it at once.
 */
export function whileSeveral(task: Task, wake: () => void): Task {
  const stopListening = onChange(({ kind }) => {
    if (kind === 'node') wake()
  })
  let isDone = false
  return {
    name: task.name,
    get everyMs() {
      return isDone && !hasOtherNodes() ? IDLE_MS : task.everyMs
    },
    async run(signal) {
      signal.addEventListener('abort', stopListening, { once: true })
      isDone = false
      await task.run(signal)
      isDone = true
    },
  }
}
