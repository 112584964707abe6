/** The keys that open the palette, as they are called on this system. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'
