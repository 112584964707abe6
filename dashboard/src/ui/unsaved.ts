import { onScopeDispose, readonly, ref } from 'vue'

const drafts = new Set<() => boolean>()
const asking = ref(false)
let answer: ((leave: boolean) => void) | null = null
let isLeaving = false

/** Whether the reader is being asked. */
export const isAskingToLeave = readonly(asking)

/** Names work that would be lost with the component, as long as it is there. */
export function guardUnsaved(isUnsaved: () => boolean): void {
  drafts.add(isUnsaved)
  onScopeDispose(() => drafts.delete(isUnsaved))
}

/** Whether the page may be left: asks when work would be lost. A yes holds until the move is over (`leftPage`). */
export function mayLeave(): Promise<boolean> {
  answer?.(false)
  if (isLeaving || !hasUnsaved()) return Promise.resolve(true)
  asking.value = true
  return new Promise((resolve) => {
    answer = (leave) => {
      answer = null
      asking.value = false
      isLeaving = leave
      resolve(leave)
    }
  })
}

/** The next move is no loss: the work is saved, or goes along. */
export function leaveFreely(): void {
  isLeaving = true
}

export function answerLeave(leave: boolean): void {
  answer?.(leave)
}

/** To be told when a move is over or was given up: the next one asks again. */
export function leftPage(): void {
  isLeaving = false
}

function hasUnsaved(): boolean {
  return [...drafts].some((isUnsaved) => isUnsaved())
}

// The browser's own question, for what leads out of the dashboard.
window.addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault()
})
