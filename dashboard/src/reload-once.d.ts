/** What reload-once.js, in the head of the page, provides to its modules. */
declare const reloadOnce: {
  /** Reloads the page at a path, unless it was just reloaded; answers whether it does. */
  at(path: string): boolean
  /** Must be called when a page has been loaded. */
  loaded(): void
}
