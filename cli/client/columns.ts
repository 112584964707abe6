import { EXIT, Fault } from '../fault.ts'
import type { Output } from '../output.ts'

/** A column of a table. */
export interface Column<T> {
  title: string
  text: (row: T) => string
  /** Names and ids are never cut. */
  isWhole?: boolean
}

const DEFAULT_WIDTH = 80
const GAP = 2
const LEAST_WIDTH = 8

/**
 * Prints a list: a table that fits the terminal for people, tab-separated lines for programs, names alone with `--quiet`, the
 * API's array with `--json`. `emptyNote` says on a terminal how to make one.
 */
export function printList<T>(
  out: Output,
  rows: readonly T[],
  {
    columns,
    name,
    emptyNote,
  }: { columns: readonly Column<T>[]; name: (row: T) => string; emptyNote: string },
): void {
  // Another server may answer anything.
  const isList: boolean = Array.isArray(rows)
  if (!isList)
    throw new Fault(EXIT.noConnection, 'the server does not answer like Deployer; check the address')
  if (out.isJson) return out.json(rows)
  if (out.isQuiet) return rows.forEach((row) => out.line(name(row)))
  if (rows.length === 0) {
    if (out.isTerminal) out.note(emptyNote)
    return
  }
  printTable(out, rows, columns)
}

/** Prints rows as a table that fits the terminal, or as tab-separated lines where nothing is cut. */
export function printTable<T>(out: Output, rows: readonly T[], columns: readonly Column<T>[]): void {
  const cells = rows.map((row) => columns.map(({ text }) => out.cleaned(text(row)).replaceAll('\t', ' ')))
  if (!out.isTerminal) return cells.forEach((texts) => out.line(texts.join('\t')))
  const titles = columns.map(({ title }) => title.toUpperCase())
  const widths = fitted([titles, ...cells], columns, process.stdout.columns || DEFAULT_WIDTH)
  out.line(out.color('bold', lineOf(titles, widths)))
  for (const texts of cells) out.line(lineOf(texts, widths))
}

/** Prints facts about one thing, each in a line; those without a value are left out. */
export function printFields(
  out: Output,
  fields: readonly (readonly [name: string, text: string | null])[],
): void {
  const given = fields.filter(([, text]) => text !== null && text !== '') as [string, string][]
  const width = Math.max(...given.map(([name]) => name.length)) + GAP
  for (const [name, text] of given) {
    const value = out.cleaned(text)
    out.line(out.isTerminal ? `${out.color('dim', name.padEnd(width))}${value}` : `${name}\t${value}`)
  }
}

/** Widths that fit: the widest columns that may be cut lose the most. */
function fitted(lines: readonly string[][], columns: readonly Column<never>[], width: number): number[] {
  const widths = columns.map((_, index) => Math.max(...lines.map((texts) => texts[index]!.length)))
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1) - width
  while (excess > 0) {
    const widest = widths.reduce<number | null>((best, each, index) => {
      if (columns[index]!.isWhole || each <= LEAST_WIDTH) return best
      return best === null || each > widths[best]! ? index : best
    }, null)
    if (widest === null) break
    widths[widest]!--
    excess--
  }
  return widths
}

function lineOf(texts: readonly string[], widths: readonly number[]): string {
  return texts
    .map((text, index) => {
      const width = widths[index]!
      const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text
      return index === texts.length - 1 ? cut : cut.padEnd(width + GAP)
    })
    .join('')
    .trimEnd()
}
