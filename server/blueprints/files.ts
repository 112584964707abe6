import { isUtf8 } from 'node:buffer'
import { useContext } from '../context.ts'
import type { WrittenFile } from '../secret-files/operations.ts'
import { placeOf } from '../secret-files/rules.ts'
import { listSecretFiles, type SecretFileRow } from '../secret-files/store.ts'
import type { ExportedValues } from './plain-values.ts'
import type { WantedFile } from './project.ts'
import type { VariablePolicy } from './variables.ts'
import { isAsWritten, recordWritten, writtenOf } from './written.ts'

/** What a new file has that says nothing else. */
const DEFAULTS = { mode: '0400', secret: true }

/** The secret files of a service or an env group that an apply writes, because they differ from the current ones. */
export interface MergedFiles {
  written: { file: WrittenFile; isNew: boolean }[]
  notes: string[]
}

/** Compares wanted secret files with those of a service or an env group, which has no id before it exists. */
export function mergeFiles(
  { id: holder, label }: { id: string | undefined; label: string },
  wanted: readonly WantedFile[],
  { keepsHandSet }: VariablePolicy,
): MergedFiles {
  const { vault } = useContext()
  const rows = holder === undefined || wanted.length === 0 ? [] : listSecretFiles(holder)
  const there = new Map(rows.map((row) => [row.name, row]))
  const record = holder === undefined || !keepsHandSet ? new Map<string, never>() : writtenOf(holder)
  const merged: MergedFiles = { written: [], notes: [] }
  for (const { name, place, from, ...fields } of wanted) {
    const old = there.get(name)
    if (from === 'by hand') {
      if (!old)
        merged.notes.push(
          `line ${place.line}: the secret file ${name} of ${label} has no content yet (sync: false): put it by hand`,
        )
      continue
    }
    const file = { ...from, name, ...settingsFor(old, fields) }
    const oldContent = old && vault.openBytes(old.content)
    if (old && isSame(old, file) && oldContent!.equals(from.content)) continue
    if (keepsHandSet && old && !isAsWritten(record.get(keyOf(name)), oldContent!.toString('base64'))) {
      merged.notes.push(
        `line ${place.line}: the secret file ${name} of ${label} was put by hand and stays as it is`,
      )
      continue
    }
    merged.written.push({ file, isNew: !old })
  }
  return merged
}

/** Records what an apply wrote, so that a later one can distinguish it from what was put by hand. */
export function recordFiles(holder: string, { written }: MergedFiles): void {
  for (const { file } of written)
    recordWritten(holder, keyOf(file.name), Buffer.from(file.content).toString('base64'), false)
}

/** The secret files of a service or an env group as entries of a file; contents that are not exported are put by hand. */
export function fileEntries(holder: string, values: ExportedValues): Record<string, unknown>[] {
  return listSecretFiles(holder).map((row) => {
    const { name, path, mode, is_secret } = row
    if (values === 'none' || (values === 'plain' && is_secret)) return { name, sync: false }
    const content = useContext().vault.openBytes(row.content)
    return {
      name,
      ...(isText(content)
        ? { content: content.toString('utf8') }
        : { content_base64: content.toString('base64') }),
      ...(path === placeOf(name, undefined) ? {} : { path }),
      ...(mode === DEFAULTS.mode ? {} : { mode }),
      ...(is_secret ? {} : { secret: false }),
    }
  })
}

/** A file keeps what an entry does not say. */
function settingsFor(
  old: SecretFileRow | undefined,
  { path, mode, secret }: Pick<WantedFile, 'path' | 'mode' | 'secret'>,
): Pick<WrittenFile, 'path' | 'mode' | 'secret'> {
  return {
    path: path === undefined ? old?.path : (path ?? undefined),
    mode: mode ?? old?.mode ?? DEFAULTS.mode,
    secret: secret ?? (old ? old.is_secret === 1 : DEFAULTS.secret),
  }
}

function isSame(old: SecretFileRow, { name, path, mode, secret }: WrittenFile): boolean {
  return old.path === placeOf(name, path) && old.mode === mode && (old.is_secret === 1) === secret
}

/** Next to the keys of variables, none of which has a space. */
function keyOf(name: string): string {
  return `file ${name}`
}

/** Whether YAML shows it as text that is read as the same bytes: of control characters, only line feeds and tabs. */
function isText(content: Buffer): boolean {
  return isUtf8(content) && !/[^\P{C}\n\t]|[\u2028\u2029\ufeff]/u.test(content.toString('utf8'))
}
