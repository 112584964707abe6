import { remembered } from '../ui/remembered.ts'

/** Whether what is printed is also there for screen readers, which takes time to draw. */
export const readsAloud = remembered('terminal-reads-aloud', false)
