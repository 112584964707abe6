import {
  effectScope,
  onScopeDispose,
  shallowReactive,
  toValue,
  watchEffect,
  type MaybeRefOrGetter,
} from 'vue'
import type { Tone } from './StatusBadge.vue'

interface Titled {
  title: MaybeRefOrGetter<string>
  tone: MaybeRefOrGetter<Tone>
}

const PRODUCT = 'Deployer'
const USUAL_ICON = new URL('../favicon.svg', import.meta.url).href
/** The icon of the tab if something on the page has failed, or is under way. */
const ICONS: Partial<Record<Tone, string>> = {
  danger: new URL('../favicon-failed.svg', import.meta.url).href,
  progress: new URL('../favicon-working.svg', import.meta.url).href,
}

/** The innermost part of the page comes last. */
const shown = shallowReactive<Titled[]>([])

effectScope(true).run(() => {
  watchEffect(() => {
    const top = shown.at(-1)
    document.title = top ? `${toValue(top.title)} · ${PRODUCT}` : PRODUCT
  })
  watchEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const icons = shown.flatMap((part) => ICONS[toValue(part.tone)] ?? [])
    if (icon) icon.href = icons.at(-1) ?? USUAL_ICON
  })
})

/** The title of the page while the component lives, and the tone of what it shows, which the icon of its tab tells. */
export function useTitle(title: MaybeRefOrGetter<string>, tone: MaybeRefOrGetter<Tone> = 'neutral'): void {
  const own: Titled = { title, tone }
  shown.push(own)
  onScopeDispose(() => {
    shown.splice(shown.indexOf(own), 1)
  })
}
