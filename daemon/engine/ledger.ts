import type { Thing, ThingKind } from '#server/ledger.ts'

/**
 * What this server has made in the engine, as it wrote down before it made it. Nothing else is ever changed or removed:
 * labels are handed on by images and written by anyone, so that they only narrow a search.
 * What has a recorded name and this server's label takes the place of one whose id is gone: older data was restored.
 */
export interface Ledger {
  /** Writes a thing down; one of this name that was written down before counts no more. */
  record(kind: ThingKind, name: string, engineId?: string | null): void
  find(kind: ThingKind, name: string): Thing | undefined
  /** Everything of a kind, by name. */
  list(kind: ThingKind): Thing[]
  /** The names of a kind that have no id of the engine yet. */
  waiting(kind: ThingKind): string[]
  countWaiting(kind: ThingKind): number
  /** Strikes out what is gone. */
  forget(kind: ThingKind, name: string): void
  /** Keeps all that `work` records and forgets, or nothing of it. */
  atOnce(work: () => void): void
  /** Makes of a text that may hold secrets a name that tells nothing of it. */
  seal(text: string): string
  /** The text that was sealed. */
  open(sealed: string): string
}
