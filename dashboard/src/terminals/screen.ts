import '@xterm/xterm/css/xterm.css'
import './terminal.css'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal, type ITheme } from '@xterm/xterm'
import { onBeforeUnmount, onMounted, watch, type Ref } from 'vue'
import { isApple } from '../ui/apple.ts'
import { copyText } from '../ui/clipboard.ts'
import { useLetterScale } from '../ui/letters.ts'
import { isDark } from '../ui/theme.ts'
import { readsAloud } from './preferences.ts'
import type { Size } from './session.ts'

/** The element that says which keys the page keeps for itself. */
export const KEYS_ID = 'terminal-keys'

const FONT = "'JetBrains Mono Variable', ui-monospace, monospace"
const FONT_PX = 13
const SCROLLBACK_LINES = 5_000
/** WCAG 2.2, 1.4.3: whatever colours a program chooses. */
const LEAST_CONTRAST = 4.5

const DARK: ITheme = {
  background: '#0e0e12',
  foreground: '#d6d6de',
  cursor: '#d6d6de',
  cursorAccent: '#0e0e12',
  selectionBackground: '#2f4f7f',
  selectionInactiveBackground: '#2a3a55',
  black: '#3a3a44',
  red: '#ff8078',
  green: '#7ee2a0',
  yellow: '#f2cf66',
  blue: '#82aaff',
  magenta: '#d7a3f7',
  cyan: '#6fd8e8',
  white: '#d6d6de',
  brightBlack: '#8b8b98',
  brightWhite: '#ffffff',
}
const LIGHT: ITheme = {
  background: '#ffffff',
  foreground: '#17171c',
  cursor: '#17171c',
  cursorAccent: '#ffffff',
  selectionBackground: '#b9d3fb',
  selectionInactiveBackground: '#dbe6f7',
  black: '#17171c',
  red: '#b42318',
  green: '#05603a',
  yellow: '#8a4b04',
  blue: '#1d4ed8',
  magenta: '#86198f',
  cyan: '#0e6674',
  white: '#686874',
  brightBlack: '#52525e',
  brightRed: '#b42318',
  brightGreen: '#05603a',
  brightYellow: '#8a4b04',
  brightBlue: '#1d4ed8',
  brightMagenta: '#86198f',
  brightCyan: '#0e6674',
  brightWhite: '#17171c',
}

interface Listeners {
  onType: (bytes: Uint8Array<ArrayBuffer>) => void
  onResize: (size: Size) => void
  /** Moves the focus out of the terminal, which takes Tab for itself. */
  onLeave: () => void
}

export interface TerminalScreen {
  readonly terminal: Terminal
  /** Resolves once it is drawn with its own letters, which give its size. */
  readonly ready: Promise<void>
}

/** A terminal in an element. What a program prints changes nothing outside of it: not the title, the clipboard or the address. */
export function useScreen(
  element: Readonly<Ref<HTMLElement | undefined | null>>,
  { onType, onResize, onLeave }: Listeners,
): TerminalScreen {
  const scale = useLetterScale()
  const terminal = new Terminal({
    fontFamily: FONT,
    fontSize: fontPixels(),
    scrollback: SCROLLBACK_LINES,
    minimumContrastRatio: LEAST_CONTRAST,
    screenReaderMode: readsAloud.value,
    theme: isDark.value ? DARK : LIGHT,
    // Otherwise a link that a program prints could open another page.
    linkHandler: { activate: () => {} },
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  const encoder = new TextEncoder()
  terminal.onData((text) => onType(encoder.encode(text)))
  terminal.onBinary((text) => onType(Uint8Array.from(text, (character) => character.charCodeAt(0))))
  terminal.onResize(onResize)
  terminal.attachCustomKeyEventHandler((event) => !isTaken(event, terminal, onLeave))

  function fontPixels(): number {
    return Math.round(FONT_PX * scale.value)
  }

  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const watcher = new ResizeObserver(() => fit.fit())
  onMounted(async () => {
    // Their width is measured once.
    await document.fonts.load(`${fontPixels()}px ${FONT}`).catch(() => {})
    if (!element.value) return
    terminal.open(element.value)
    terminal.textarea?.setAttribute('aria-describedby', KEYS_ID)
    fit.fit()
    watcher.observe(element.value)
    resolve()
  })
  onBeforeUnmount(() => {
    watcher.disconnect()
    terminal.dispose()
  })
  watch(isDark, (dark) => (terminal.options.theme = dark ? DARK : LIGHT))
  watch(readsAloud, (reads) => (terminal.options.screenReaderMode = reads))
  watch(scale, () => {
    terminal.options.fontSize = fontPixels()
    fit.fit()
  })
  return { terminal, ready }
}

/** Does what a key means to the page; whether it is not for the program then. */
function isTaken(event: KeyboardEvent, terminal: Terminal, leave: () => void): boolean {
  const { key, shiftKey, type } = event
  if (!event.ctrlKey && !event.metaKey) return false
  if (shiftKey && key === 'Enter') {
    event.preventDefault()
    if (type === 'keydown') leave()
    return true
  }
  // The browser copies and pastes with ⌘, and Ctrl is the program's.
  if (isApple) return false
  // The browser then pastes, which the terminal hears of.
  if (key.toLowerCase() === 'v') return true
  if (key.toLowerCase() !== 'c' || !terminal.hasSelection()) return false
  event.preventDefault()
  if (type === 'keydown') {
    void copyText(terminal.getSelection())
    terminal.clearSelection()
  }
  return true
}
