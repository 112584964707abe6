import { ref, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'

/** Entries of a list that are shown at first. */
export const FIRST_PAGE = 30
/** As many as the server gives at once. */
const MOST = 500

/** How many entries of a list are asked for; the address remembers it, for who comes back to the list. */
export function useOlder(): { limit: Ref<number>; showOlder: () => Promise<void> } {
  const route = useRoute()
  const router = useRouter()
  const limit = ref(route.query['older'] === undefined ? FIRST_PAGE : MOST)
  return {
    limit,
    async showOlder() {
      limit.value = MOST
      await router.replace({ ...route, query: { ...route.query, older: null } })
    },
  }
}

/** Once the older entries are there, the first of them gets the focus that the button had which asked for them. */
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
