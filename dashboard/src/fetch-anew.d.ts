/** What fetch-anew.js, in the head of the page, gives to its modules. */
declare const fetchAnew: {
  /** Loads the page at a path anew, unless it has just been; answers whether it does. */
  once(path: string): boolean
  /** To be told when a page has been loaded. */
  loaded(): void
}
