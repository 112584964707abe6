import type { EngineObject, EngineObjectKind } from '#server/ledger.ts'

/**
 * What this server has created in the engine, recorded before it was created. Nothing else is ever changed or removed:
 * labels can be inherited from images or set by anyone, so they only narrow a search. If a recorded id no longer exists
 * (after restoring an older backup), an object with the recorded name and this server's label is adopted in its place.
 */
export interface Ledger {
  /** Records an object, in place of an earlier record with this name. */
  record(kind: EngineObjectKind, name: string, engineId?: string | null): void
  find(kind: EngineObjectKind, name: string): EngineObject | undefined
  /** Everything of a kind, by name. */
  list(kind: EngineObjectKind): EngineObject[]
  /** The names of a kind that do not have an engine id yet. */
  waiting(kind: EngineObjectKind): string[]
  countWaiting(kind: EngineObjectKind): number
  /** Deletes the record of an object that is gone. */
  forget(kind: EngineObjectKind, name: string): void
  /** Keeps everything that `work` records and forgets, or none of it. */
  atOnce(work: () => void): void
  /** Encrypts a text that may contain secrets, so that it can be a name. */
  seal(text: string): string
  /** Decrypts a text that was sealed. */
  open(sealed: string): string
}
