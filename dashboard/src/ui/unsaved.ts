import { onScopeDispose, readonly, ref } from 'vue'

const drafts = new Set<() => boolean>()
const asking = ref(false)
let answer: ((leave: boolean) => void) | null = null
let isLeaving = false

/** Whether the user is being asked. */
export const isAskingToLeave = readonly(asking)

/** Registers work that would be lost with the component, for as long as it is mounted. */
export function guardUnsaved(isUnsaved: () => boolean): void {
  drafts.add(isUnsaved)
  onScopeDispose(() => drafts.delete(isUnsaved))
}

/** Whether the page may be left: asks if work would be lost. A yes holds until the navigation is over (`leftPage`). */
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

/** The next navigation loses nothing: the work is saved, or kept across it. */
export function leaveFreely(): void {
  isLeaving = true
}

export function answerLeave(leave: boolean): void {
  answer?.(leave)
}

/** Must be called when a navigation is over or was canceled: the next one asks again. */
export function leftPage(): void {
  isLeaving = false
}

function hasUnsaved(): boolean {
  return [...drafts].some((isUnsaved) => isUnsaved())
}

// The browser's own dialog, for leaving the dashboard.
window.addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault()
})
