import { autocompletion, completionKeymap, type CompletionSource } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { FaultDetail } from '../api/types.ts'
import { suggestionsAt, type Schema } from './completion.ts'

/** The code editor of a page. */
export interface Editor {
  /** Replaces the whole text. */
  write(text: string): void
  /** Marks errors. */
  mark(faults: readonly FaultDetail[]): void
  /** Moves the cursor to a line. */
  goTo(line: number, column: number): void
  end(): void
}

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--info)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--success)' },
  { tag: tags.comment, color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--muted)' },
  { tag: [tags.labelName, tags.typeName, tags.keyword], color: 'var(--warning)' },
])

const look = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    height: '100%',
    fontSize: 'calc(13rem / 14)',
  },
  // Its frame shows the focus: the gutter would cover a ring inside.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--line) 35%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--line)', color: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--info-soft)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '7px',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionInfo': { maxWidth: '340px', padding: '6px 10px' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.75' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-specialChar': { color: 'var(--danger)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger-solid)' },
})

/** CodeMirror already marks the other characters that make a file look different from what the server reads. */
const EMBEDDINGS = /[\u202a-\u202c\u2068]/

/** What every editor can do, and how it looks. */
const FEATURES = [
  lineNumbers(),
  lintGutter(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  history(),
  drawSelection(),
  highlightSpecialChars({ addSpecialChars: EMBEDDINGS }),
  search({ top: true }),
  highlightSelectionMatches(),
  indentUnit.of('  '),
  yaml(),
  syntaxHighlighting(colours),
  keymap.of([
    ...completionKeymap,
    ...lintKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
  EditorView.contentAttributes.of({ 'aria-label': 'Blueprint', spellcheck: 'false', tabindex: '0' }),
  look,
]

/** Creates a blueprint editor in an element. */
export function createEditor(
  parent: HTMLElement,
  { text, schema, onText }: { text: string; schema: () => Schema | null; onText: (text: string) => void },
): Editor {
  const extensions = [
    ...FEATURES,
    autocompletion({ override: [completionFor(schema)], icons: false }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onText(update.state.doc.toString())
    }),
  ]
  const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) })
  return {
    write: (next) => {
      if (next !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    mark: (faults) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          faults.map((fault) => diagnosticOf(view, fault)),
        ),
      ),
    goTo: (line, column) => {
      const { from } = positionOf(view, line, column)
      view.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      })
      view.focus()
    },
    end: () => view.destroy(),
  }
}

/** Suggests what the schema allows at the cursor; nothing until the schema is known. */
function completionFor(schema: () => Schema | null): CompletionSource {
  return (context) => {
    const known = schema()
    const line = context.state.doc.lineAt(context.pos)
    if (!known || (!context.explicit && context.matchBefore(/[\w-]/) === null)) return null
    const lines = context.state.doc.toJSON()
    const before = [...lines.slice(0, line.number - 1), line.text.slice(0, context.pos - line.from)]
    const { suggestions, length } = suggestionsAt(before, lines.slice(line.number), known)
    return {
      from: context.pos - length,
      // The list is filtered while typing, not requested again: until the answer came, Enter would start a new line.
      validFor: /^[\w-]*$/,
      options: suggestions.map(({ label, detail, info, insert }) => ({
        label,
        detail,
        apply: insert,
        type: 'property',
        ...(info === undefined ? {} : { info }),
      })),
    }
  }
}

function diagnosticOf(view: EditorView, { line, column, message }: FaultDetail): Diagnostic {
  return { ...positionOf(view, line, column), severity: 'error', message }
}

/** The word that begins at a position; the text may have changed since it was checked. */
function positionOf({ state }: EditorView, line: number, column: number): { from: number; to: number } {
  const { from, to, text } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines))
  const start = Math.min(from + column - 1, to)
  const word = /^\S+/.exec(text.slice(start - from))?.[0] ?? ''
  return { from: start, to: start + word.length }
}
