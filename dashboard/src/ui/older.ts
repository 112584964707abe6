import { ref, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'

/** Entries of a list that are shown at first. */
export const FIRST_PAGE = 30
/** As many as the server keeps and returns at once. */
export const MOST = 500

export interface Older {
  /** How many entries are asked for. */
  limit: Readonly<Ref<number>>
  /** What is shown is all that the server keeps. */
  isWhole: Readonly<Ref<boolean>>
  /** Fetches as many as are asked for. */
  newest: <T>(fetch: (limit: number) => Promise<T>) => Promise<T>
  showOlder: () => Promise<void>
}

/**
 * The newest entries of a list, then all that are kept; the address keeps this when the user comes back to the list.
 */
export function useOlder(): Older {
  const route = useRoute()
  const router = useRouter()
  const limit = ref(route.query['older'] === undefined ? FIRST_PAGE : MOST)
  const isWhole = ref(false)
  return {
    limit,
    isWhole,
    async newest(fetch) {
      const asked = limit.value
      const entries = await fetch(asked)
      isWhole.value = asked === MOST
      return entries
    },
    async showOlder() {
      limit.value = MOST
      await router.replace({ ...route, query: { ...route.query, older: null } })
    },
  }
}

/** Once the older entries are shown, the first of them gets the focus from the button that showed them. */
export function useFirstOlder(
  list: Readonly<Ref<HTMLElement | null>>,
  entries: Readonly<Ref<readonly unknown[] | undefined>>,
): void {
  watch(
    () => entries.value?.length ?? 0,
    (now, before) => {
      const isFocusLost = document.activeElement === document.body
      if (before !== FIRST_PAGE || now <= FIRST_PAGE || !isFocusLost) return
      list.value?.children[FIRST_PAGE]?.querySelector('a')?.focus({ preventScroll: true })
    },
    { flush: 'post' },
  )
}
