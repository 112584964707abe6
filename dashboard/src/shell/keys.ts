import { onScopeDispose } from 'vue'
import { useRouter } from 'vue-router'
import { isApple } from '../ui/apple.ts'
import { remembered } from '../ui/remembered.ts'

/** The keys that open the palette, as they are called on this system. */
export const PALETTE_KEYS = isApple ? '⌘K' : 'Ctrl K'

/** Where `g` and then a letter leads. */
export const GO: readonly { key: string; label: string; path: string }[] = [
  { key: 'o', label: 'Overview', path: '/overview' },
  { key: 's', label: 'Services', path: '/services' },
  { key: 'd', label: 'Datastores', path: '/datastores' },
  { key: 'l', label: 'Logs', path: '/logs' },
  { key: 'b', label: 'Blueprints', path: '/blueprints' },
  { key: 'e', label: 'Environments', path: '/environments' },
  { key: 'v', label: 'Env groups', path: '/env-groups' },
  { key: 'w', label: 'Domains', path: '/domains' },
  { key: 'n', label: 'Notifications', path: '/notifications' },
  { key: 'r', label: 'Registries', path: '/registries' },
  { key: 'h', label: 'Server', path: '/server' },
  { key: 'a', label: 'Account', path: '/account' },
  { key: 'c', label: 'New service', path: '/services/new' },
]

/** How long the letter after `g` may take. */
const GO_WITHIN_MS = 1_500

/**
 * Whether keys without Ctrl or ⌘ do something: who speaks to the browser, or hits keys by accident, can turn them off (WCAG
 * 2.1.4).
 */
export const usesLetters = remembered('letter-keys', true)

/** Listens for the keys that work on every page, while the component lives. */
export function useKeys({ palette, help }: { palette: () => void; help: () => void }): void {
  const router = useRouter()
  let wentAt = -Infinity

  function ofLetter(key: string): (() => unknown) | undefined {
    const isSecond = performance.now() - wentAt < GO_WITHIN_MS
    wentAt = -Infinity
    const target = isSecond ? GO.find((each) => each.key === key) : undefined
    if (target) return () => router.push(target.path)
    if (key === 'g') return () => (wentAt = performance.now())
    if (key === '?') return help
    return key === '/' ? () => focusSearch() || palette() : undefined
  }

  function onKey(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event
    const isPalette = key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !shiftKey && !altKey
    const isLetter = usesLetters.value && !ctrlKey && !metaKey && !altKey && !event.repeat
    const act = isPalette ? palette : isLetter && !isTaken(event.target) ? ofLetter(key) : undefined
    if (!act || event.defaultPrevented) return
    event.preventDefault()
    act()
  }
  window.addEventListener('keydown', onKey)
  onScopeDispose(() => window.removeEventListener('keydown', onKey))
}

/** Where keys write, choose or belong to what covers the page. */
const TAKES_KEYS =
  'input, textarea, select, [contenteditable], [role=textbox], [role=menu], [role=listbox], [role=dialog], dialog, .xterm'

function isTaken(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TAKES_KEYS) !== null
}

/** Moves the focus to the search of the page; false if it has none. */
function focusSearch(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement>(
    '#content [role=search] input, #content input[type=search]',
  )
  const field = [...fields].find((each) => each.checkVisibility())
  field?.focus()
  field?.select()
  return field !== undefined
}
