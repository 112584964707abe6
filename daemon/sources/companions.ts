/** Entries that macOS and `git archive` add next to the packed folder. */
export const COMPANIONS = /^(\._.*|\.DS_Store|__MACOSX|pax_global_header)$/
