/** Whether keys are those of Apple's systems: there, ⌘ is for the browser what Ctrl is elsewhere. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
