import { computed, onScopeDispose, readonly, ref } from 'vue'

/** What is asked before something is lost. */
export interface LeaveQuestion {
  title: string
  description: string
}

const UNSAVED: LeaveQuestion = {
  title: 'Leave without saving?',
  description: 'Your changes on this page are not saved and will be lost.',
}

/** What would be lost, with the question of each. */
const drafts = new Map<() => boolean, LeaveQuestion>()
const asking = ref(false)
let answer: ((leave: boolean) => void) | null = null
let isLeaving = false

/** Whether the user is being asked. */
export const isAskingToLeave = readonly(asking)

/** The question, while it is asked. */
export const leaveQuestion = computed(() => (asking.value ? questionNow() : UNSAVED))

/** Registers work that would be lost with the component, for as long as it is mounted. */
export function guardUnsaved(isUnsaved: () => boolean, question = UNSAVED): void {
  drafts.set(isUnsaved, question)
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
  return [...drafts.keys()].some((isUnsaved) => isUnsaved())
}

function questionNow(): LeaveQuestion {
  return [...drafts].find(([isUnsaved]) => isUnsaved())?.[1] ?? UNSAVED
}

// The browser's own dialog, for leaving the dashboard.
window.addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault()
})
