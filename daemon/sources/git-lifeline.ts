/** The descriptor that closes with the server; nothing is ever written to it. */
export const GIT_LIFELINE_FD = 3
/** The descriptor at which git's credential helper asks this server. */
export const GIT_CREDENTIALS_FD = 4
/** How the runner ends where there is no git: as shells do, and as git itself never does. */
export const GIT_IS_MISSING = 127
