import { ref } from 'vue'

export interface Toast {
  id: number
  tone: 'done' | 'problem'
  text: string
  action?: { label: string; run: () => void }
}

/** How long a success message stays; a problem stays until it is dismissed. */
const DONE_MS = 5_000
/** With an action it stays longer. */
const ACTION_MS = 12_000
/** Older ones are removed. */
const MAX_TOASTS = 4

let next = 1

export const toasts = ref<Toast[]>([])

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((shown) => shown.id !== id)
}

/** Returns the id, for `dismiss`. */
function show(content: Omit<Toast, 'id'>): number {
  const id = next++
  const others = toasts.value.filter(({ text }) => text !== content.text)
  toasts.value = [...others.slice(1 - MAX_TOASTS), { ...content, id }]
  if (content.tone === 'done') setTimeout(() => dismiss(id), content.action ? ACTION_MS : DONE_MS)
  return id
}

/** Short messages at the page's edge. */
export const toast = {
  done: (text: string, action?: Toast['action']) => void show({ tone: 'done', text, action }),
  problem: (text: string) => void show({ tone: 'problem', text }),
  /** A problem that is over once the promise resolves. */
  problemUntil: async (text: string, over: Promise<void>) => {
    const id = show({ tone: 'problem', text })
    await over
    dismiss(id)
  },
}
