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

function show(content: Omit<Toast, 'id'>): void {
  const id = next++
  const others = toasts.value.filter(({ text }) => text !== content.text)
  toasts.value = [...others.slice(1 - MAX_TOASTS), { ...content, id }]
  if (content.tone === 'done') setTimeout(() => dismiss(id), content.action ? ACTION_MS : DONE_MS)
}

/** Short messages at the page's edge. */
export const toast = {
  done: (text: string, action?: Toast['action']) => show({ tone: 'done', text, action }),
  problem: (text: string) => show({ tone: 'problem', text }),
}
